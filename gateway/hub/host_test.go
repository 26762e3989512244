package hub

const secret = "only-this-agent-and-its-host"
