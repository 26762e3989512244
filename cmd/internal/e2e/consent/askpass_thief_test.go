package consent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/e2e/world"
)

// thief is a helper of an attacker's that sudo starts. The process shows the gateway a genuine
// helper, which it becomes; its child speaks on a connection made before, with a key of its own.
const thief = `#!/usr/bin/perl
use IO::Socket::UNIX; $^F = 99; $SIG{PIPE} = 'IGNORE';
my $s = IO::Socket::UNIX->new(Peer => $ENV{THIEF_SOCKET}) or die "no socket: $!";
my $helper = $$;
if (fork == 0) {
	close STDOUT;
	sub post { my ($path, $body) = @_;
		print $s "POST $path HTTP/1.1\r\nHost: localhost\r\nContent-Length: " . length($body) . "\r\n\r\n$body"; $s->flush;
		sysread $s, my $got, 65536; open my $f, '>>', 'stolen'; print $f $got; close $f; $got }
	for (1 .. 6000) { my $exe = readlink "/proc/$helper/exe"; last if $exe !~ /perl/; select undef, undef, undef, 0.01 }
	post '/v1/secret/hello', '{}';
	for (1 .. 6000) { my $exe = readlink "/proc/$helper/exe"; last if !$exe; select undef, undef, undef, 0.01 }
	post '/v1/secret/ask', '{"requestId":"r","kind":"secret","prompt":"[sudo] password for ada: ","publicKeyB64":' .
		'"BGsX0fLhLEJH+Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT+NC4v4af5uO5+tKfA+eFivOM1drMV7Oy7ZAaDe/UfU="}';
	exit }
exec $ENV{THIEF_HELPER}, @ARGV;
`

// eavesdropper is a helper of an attacker's that has the genuine one print into a pipe of its own,
// whose reader closes its memory so that no one sees the pipe there.
const eavesdropper = `#!/usr/bin/perl
$^F = 99; pipe(R, W);
if (fork == 0) { syscall 157, 4, 0, 0, 0, 0; close W; close STDOUT; $_ = <R>; open F, '>', 'stolen'; print F $_; exit }
open STDOUT, '>&W'; close R; close W; exec $ENV{THIEF_HELPER}, @ARGV;
`

// An attacker's helper that a genuine sudo starts gets no answer, neither by speaking for the
// genuine helper nor by reading what that prints.
func TestNoOneTakesTheHelpersPlace_Root(t *testing.T) {
	s := newSudoer(t)
	socket := filepath.Join(s.dir, "run", "gateway.sock")
	require.FileExists(t, socket)
	run := func(script string) (stderr string) {
		require.NoError(t, world.WriteProgram(filepath.Join(s.dir, "thief"), []byte(script), 0o755))
		got := s.start("export THIEF_HELPER=$SUDO_ASKPASS THIEF_SOCKET=" + socket + " SUDO_ASKPASS=$PWD/thief; sudo -k; sudo id -u")
		hasEnded := func() bool {
			select {
			case <-got.Ended:
				return true
			default:
				return false
			}
		}
		s.desk.See("a question, or the end of sudo", func(screen string) bool { return hasEnded() || asks(screen, "for sudo") })
		if !hasEnded() {
			s.press("wants your password for sudo", "C-\\")
		}
		return got.Wait().Err
	}
	run(thief)
	var stolen []byte
	s.Until(func() bool {
		stolen, _ = os.ReadFile(filepath.Join(s.dir, "stolen"))
		return strings.Count(string(stolen), "HTTP/1.1 ") == 2
	}, func() string { return string(stolen) })
	// The second once sudo has reaped the helper.
	require.Regexp(t, "another process speaks for the helper|only sudo, ssh, git and gpg may ask", string(stolen))
	require.NoError(t, os.Remove(filepath.Join(s.dir, "stolen")))
	require.Contains(t, run(eavesdropper), "the answer would not go to the program that asks")
	require.NotContains(t, s.desk.Screen(), "wants your password")
}

// A helper that sudo runs as its command gets no answer: a sudo that logs what its command prints has
// made the pipe, and would print the answer to the agent.
func TestSudoRunsNoHelper_Root(t *testing.T) {
	for _, settings := range []string{"log_output", "log_output,!use_pty", "!log_output"} {
		t.Run(settings, func(t *testing.T) {
			s := newSudoer(t)
			s.Write("sudoers", s.Content("sudoers")+"Defaults "+settings+"\n")
			require.NoError(t, os.Chmod(s.Path("sudoers"), 0o440))
			got := s.start(`sudo -u ` + account + ` env TERMINALPROXY_DIR="$TERMINALPROXY_DIR" "$SUDO_ASKPASS" "[sudo] password for x: " < /dev/null | cat`)
			s.Until(func() bool {
				require.NotContains(t, s.desk.Screen(), "wants your password")
				return strings.Contains(got.Err.String(), "the answer would not go to the program that asks")
			}, got.Err.String)
			require.Empty(t, got.Wait().Out)
		})
	}
}
