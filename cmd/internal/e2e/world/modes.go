package world

// Modes are what a program may leave on in a window.
const Modes = "alternate #{alternate_on} cursor #{cursor_flag} mouse #{mouse_any_flag} keypad #{keypad_cursor_flag}#{keypad_flag} wrap #{wrap_flag}"

const PlainModes = "alternate 0 cursor 1 mouse 0 keypad 00 wrap 1"
