package session_test

import (
	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

const (
	vimIsUp  = `notes.txt.* 2L`
	bashIsUp = `(?m)^\$$`
	vimEnds  = ":q!\n"
	shellEnd = "exit 0\n"
	isMake   = "builds the checkout: "
	needsNPM = "needs the agent from npm: "
)

// clientSteps are the commands of coding agents, which other tests run with the real programs.
var clientSteps = []step{
	{line: "claude mcp add", skip: needsNPM + "TestCodingAgents_Client"},
	{line: `claude "look at`, skip: "needs an account"},
}

// examples says of each page with shell blocks which of its commands need more than a shell.
var examples = map[string]example{
	"README.md": {steps: append([]step{
		{line: "make demo", skip: isMake + ".ci/run runs it"},
		{line: "make && sudo make install", skip: isMake + "TestInstallAndUninstall"},
		{line: "proxy --agent vim", stays: vimIsUp, end: vimEnds},
	}, clientSteps...)},
	"docs/agents.md": {
		before:  func(r *pageRun) { r.stay("proxy --agent vim notes.txt", vimIsUp, vimEnds) },
		replace: []string{"vim-k3f9", "ID", "bash-k3f9", "bash"},
		steps: []step{
			{line: "gateway ls", want: `ID +PROGRAM +DIRECTORY .*KEYBOARD\nvim-.* vim notes.txt .* running .* user`},
			{
				line: "gateway request", want: `granted \(drive, \dm left\)`,
				during: func(r *pageRun) { r.last().Answer("C-g") },
			},
			{line: "gateway send gdb-k3f9 --steps", skip: "needs a program to debug: TestStepsFromAShell"},
			{line: "gateway send", after: func(r *pageRun) { r.last().Wait("two fixed") }},
			{line: "gateway marks zsh", shell: "zsh"},
			{line: "gateway marks fish", shell: "fish"},
			{
				line: "gateway read bash-k3f9 --command", want: `command line: "false"\ndirectory: ".*"\nthe shell's marks say: exit status 1 after `,
				before: func(r *pageRun) {
					r.stay("proxy --agent bash --noprofile --rcfile bashrc -i", bashIsUp, shellEnd)
					r.last().Typed("eval \"$(gateway marks bash)\"\n")
					r.last().Typed("false\n")
					r.last().Match(`false\n`)
				},
			},
		},
	},
	"docs/cluster.md": {
		replace: []string{"/etc/terminalproxy/private", "private"},
		steps: []step{
			{line: "make cluster-demo", skip: isMake + "TestPrograms"},
			{line: "nk -gen user", skip: "needs nk of NATS: TestProxyAgentAndOwnerAtThreeGateways makes keys"},
			{line: "sudo install -d /etc/nats", skip: "needs root and three machines: TestPrograms"},
			{line: "sudo cp ca.pem", skip: "needs root and three machines: TestPrograms"},
			{line: "nats-server -c", skip: "needs nats-server: TestPrograms"},
			{line: "gateway serve --listen", skip: "needs NATS: TestPrograms"},
			{line: "export PROXY_GATEWAY", skip: "needs three machines: TestProxyAgentAndOwnerAtThreeGateways"},
			{line: "proxy --token-file", skip: "needs three machines: TestProxyAgentAndOwnerAtThreeGateways"},
			{line: "gateway --token-file", skip: "needs three machines: TestProxyAgentAndOwnerAtThreeGateways"},
			{line: "curl --cacert", skip: "needs three machines: TestPrograms"},
		},
	},
	"docs/coding-agents.md": {
		before: func(r *pageRun) {
			r.stay("talker '' sh -c 'echo ready; cat'", `ready`, "C-d")
			_, status := r.s.RunToEnd("gateway token create owner --role owner --save")
			require.Zero(r.w.T, status)
		},
		steps: []step{
			{line: "proxy --chat claude", skip: needsNPM + "TestClaudeBesideItsInterface_Client"},
			{line: "gateway run --chat", skip: needsNPM + "TestAHostedAgentEndsWhicheverPeerIsKilled"},
			{line: "gateway chat send ID --to INNER", skip: needsNPM + "TestAnAgentThatClaudeStartsAsksItsUser"},
			{line: "gateway chat answer ID once", before: askApproval, during: (*pageRun).agree},
			{line: "gateway chat answer ID refuse", before: askApproval},
			{line: "gateway chat answer ID --reply", skip: needsNPM + "TestChatMatrix_Client"},
			{line: "gateway chat log"},
			{line: "gateway chat send"},
			{line: "gateway chat interrupt"},
			{line: "gateway chat", skip: needsNPM + "TestChatMatrix_Client"},
			{line: "claude -p", skip: needsNPM + "TestAPermissionIsAskedInAConversation"},
			{line: "claude --session-id", skip: needsNPM + "TestClaudeIsResumedBesideItsInterface_Client"},
			{line: "claude --resume", skip: needsNPM + "TestClaudeIsResumedBesideItsInterface_Client"},
		},
	},
	"docs/development.md": {steps: []step{{line: "make ", skip: isMake + ".ci/run runs these"}}},
	"docs/install.md": {steps: []step{
		{line: "sudo make uninstall", skip: "needs root: TestInstallAndUninstall"},
		{line: "make ", skip: isMake + "TestInstallAndUninstall"},
		{line: "sudo apt", skip: "needs root: TestPackages_RootClient"},
		{line: "sudo dnf", skip: "needs Fedora: TestPackages_RootClient reads the package"},
		{line: "sudo tar", skip: "needs root: TestPackages_RootClient"},
		{line: "npm install", skip: "needs packages: TestPackages_RootClient"},
		{line: "nix profile", skip: "needs Nix and a release: TestFormulaAndFlakeNameTheArchives"},
		{line: "brew tap-new", skip: "needs Homebrew and a release: TestFormulaAndFlakeNameTheArchives"},
		{line: "podman", skip: "needs Podman: TestTheImageHasAnAgentBesideTheGateway"},
		{line: "rm -rf", skip: "removes the directories of this machine's user"},
		{line: "claude mcp remove", skip: needsNPM + "TestCodingAgents_Client adds it"},
	}},
	"docs/keys.md": {steps: append([]step{
		{line: "proxy --grant drive", stays: `>>>`, end: "C-d"},
	}, clientSteps[0])},
	"docs/performance.md": {steps: []step{{line: "go test", skip: "measures for minutes: make bench"}}},
	"docs/quickstart.md": {steps: append([]step{
		{line: "proxy --agent vim", stays: vimIsUp, end: vimEnds},
		{line: "gateway request", during: func(r *pageRun) { r.last().Answer("C-g") }, want: `granted`},
		{line: "gateway send", after: func(r *pageRun) { r.last().Wait("The agent was here.") }},
		{line: "gateway ls", want: "vim notes.txt"},
	}, clientSteps[0], step{line: "claude \"look", skip: "needs an account"})},
	"docs/recipes.md": {
		replace: []string{"wss://desk.example:7117", "ws://127.0.0.1:{port}", "make test", "echo $((6 * 7))"},
		steps: []step{
			{line: "ssh prod", skip: "needs a server: TestWaitingBehindSSHWithMarks_Root"},
			{line: "ssh admin@switch", skip: "needs a device: TestWaitingBehindSSHWithoutMarks_Root"},
			{line: "kubectl exec", skip: "needs a cluster"},
			{line: "picocom", skip: "needs a serial line"},
			{
				line: "script -qec", needs: "script", stays: bashIsUp, end: shellEnd,
				before: func(r *pageRun) {
					for name, role := range map[string]string{"runner": "proxy", "claude": "agent"} {
						r.w.MustGateway("token", "create", name, "--role", role, "--out", r.w.Path(name+".token"))
					}
					r.stay("gateway serve --listen 127.0.0.1:"+r.port, "listening on ws", "C-c")
				},
			},
			{line: "send ID", after: func(r *pageRun) { r.last().Wait("42") }},
		},
	},
	"docs/recording.md": {steps: []step{
		{
			line: "proxy --agent --record", stays: bashIsUp, end: shellEnd,
			during: func(r *pageRun) {
				r.last().Typed("echo recorded\n")
				r.last().Match(`\nrecorded\n`)
			},
			brief: true,
		},
		{line: "asciinema play", needs: "asciinema"},
	}},
	"docs/remote.md": {
		replace: []string{
			"7117", "{port}", "7118", "0", "/etc/terminalproxy/gateway.toml", "gateway.toml", "wss://desk.example:", "wss://127.0.0.1:",
			"https://ntfy.sh/SOME-LONG-SECRET-TOPIC", "http://127.0.0.1:9/topic", "https://hooks.slack.com/services/T000/B000/XXXX", "http://127.0.0.1:9/hook",
			"wss://a.example.org,wss://b.example.org", "ws://127.0.0.1:1,ws://127.0.0.1:{port}",
		},
		before: func(r *pageRun) { r.stay("proxy --agent bash", bashIsUp, shellEnd) },
		steps: []step{
			{line: "gateway serve --config", before: writeServerSettings},
			{line: "gateway serve --page", stays: "web pages: on", end: "C-c"},
			{line: "gateway serve", stays: "listening on", end: "C-c"},
			{line: "proxy --agent --notify", stays: vimIsUp, end: vimEnds, brief: true},
			{line: "proxy --gateway wss://desk", stays: vimIsUp, end: vimEnds},
			{line: "proxy --gateway", stays: vimIsUp, end: vimEnds, brief: true},
			{line: "claude mcp add", skip: needsNPM + "TestCodingAgents_Client"},
			{line: "curl -H", want: `"sessions"`},
			{line: "sudo", skip: "needs root and systemd: TestSystemdTakesTheUnit"},
			{line: "--via tailscale", skip: "needs an account: TestOpenViaTailscale"},
			{line: "--via cloudflared", skip: "needs the internet: TestOpenViaCloudflared"},
			{line: "--via ssh", skip: "needs an SSH server: TestOpenViaSSH"},
			{
				line: "gateway open vim --for", stays: `https?://`, end: "C-c", brief: true,
				before: func(r *pageRun) { r.stay("proxy --agent vim notes.txt", vimIsUp, vimEnds) },
			},
			{line: "gateway open", stays: `https?://`, end: "C-c", brief: true},
			{line: "gateway token create laptop", before: onOtherMachine},
		},
	},
	"docs/shells.md": {
		steps: []step{
			{
				line: "proxy --keep", want: `\[bash-\w+: detached; gateway attach bash-\w+ comes back\]`,
				during: leaveByMenu,
			},
			{line: "gateway ls", want: `ID +PROGRAM +DIRECTORY +SIZE +STATE +IDLE +USED +KEYBOARD\nbash-.* kept, detached since .* user`},
			{line: "gateway attach", stays: bashIsUp, end: shellEnd},
		},
	},
}

// askApproval has the scripted agent ask for an approval.
func askApproval(r *pageRun) {
	id := r.id()
	_, status := r.s.RunToEnd("gateway chat send " + id + " ask")
	require.Zero(r.w.T, status, r.s.Screen())
	r.w.WaitForChat(id, protocol.ChatApproval)
}

// leaveByMenu leaves the kept session. Its prompt looks like that of the shell before it, and a key
// that comes too early is a signal to the proxy.
func leaveByMenu(r *pageRun) {
	r.id()
	r.s.Press(`C-\`)
	r.s.Match(`leave|detach`)
	r.s.Typed("d")
}

// writeServerSettings makes the page's settings file, with a certificate of this machine.
func writeServerSettings(r *pageRun) {
	r.w.Certified()
	r.w.Write("gateway.toml", "listen = \":0\"\ntls-cert = \""+r.w.Path("cert.pem")+"\"\ntls-key = \""+r.w.Path("key.pem")+
		"\"\nhost = [\"desk.example.org\"]\nlog-format = \"json\"\n")
}

// onOtherMachine goes on in a new home where the page does: its name is taken in this one.
func onOtherMachine(r *pageRun) {
	if r.w.Content("laptop.token") == "" {
		return
	}
	r.endAll()
	r.w = world.NewSolo(r.w.T)
	r.w.Certified()
	r.w.Write("notes.txt", "one\ntwo\n")
	r.exports = nil
	r.openShell()
}
