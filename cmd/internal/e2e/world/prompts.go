package world

// Prompt ends the row in which a shell waits. Before it appears, the shell may not have switched
// pastes on again.
const Prompt = `[#$%>] *$`
