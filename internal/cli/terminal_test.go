package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/test/must"
)

// TestOnATerminal: text is coloured and folded to the width, and what programs read is neither.
func TestOnATerminal(t *testing.T) {
	for _, name := range []string{"NO_COLOR", "COLUMNS", "LC_ALL", "LC_CTYPE", "LANG"} {
		t.Setenv(name, "")
	}
	t.Setenv("TERM", "xterm")
	t.Setenv("OLM_CACHE_DIR", t.TempDir())
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	catalog := "demo=" + filepath.Join("..", "..", "examples", "catalog")
	codes := regexp.MustCompile("\x1b\\[[0-9]*m")
	for name, test := range map[string]struct {
		args  []string
		env   map[string]string
		want  []string
		lacks []string
		wide  bool // lines may be longer than the terminal
	}{
		"a question":           {args: []string{"why-not", "guestbook-operator@1.0.0", "--catalog", catalog}, want: []string{"guestbook-operator"}, lacks: nil, wide: true},
		"a table":              {args: []string{"search", "--catalog", catalog}, want: []string{"\x1b[1mgreeter-operator\x1b[0m", "\x1b[2m  NEWEST"}},
		"an error":             {args: []string{"install", "etcd"}, want: []string{"\x1b[31mfairlead: \x1b[0m"}, wide: true},
		"a command":            {args: []string{"upgrade"}, want: []string{"NAME is missing:\n  fairlead upgrade NAME\n"}},
		"NO_COLOR":             {args: []string{"search", "--catalog", catalog}, env: map[string]string{"NO_COLOR": "1"}, want: []string{"\ngreeter-operator\n"[1:]}, lacks: []string{"\x1b["}},
		"a dumb terminal":      {args: []string{"search", "--catalog", catalog}, env: map[string]string{"TERM": "dumb"}, lacks: []string{"\x1b["}},
		"no colour, by a flag": {args: []string{"search", "--catalog", catalog, "--color", "never"}, lacks: []string{"\x1b["}},
		"an ASCII locale":      {args: []string{"search", "--catalog", catalog}, env: map[string]string{"LANG": "C"}, want: []string{"greeter-operator"}, lacks: []string{"…"}},
		"JSON":                 {args: []string{"search", "--catalog", catalog, "-o", "json"}, want: []string{`"description": "Keeps a ConfigMap with a greeting for each Greeting.`}, lacks: []string{"\x1b["}, wide: true},
		"help":                 {args: []string{"why-not", "--help"}, want: []string{"Tell of each entry of a package in the"}, wide: true},
		"help of all":          {args: []string{"--help"}, want: []string{"  check       Find what stands between\n              installed operators and a"}},
		"help of flags":        {args: []string{"version", "--help"}, want: []string{"Flags:\n"}},
		"COLUMNS":              {args: []string{"search", "--catalog", catalog}, env: map[string]string{"COLUMNS": "200"}, want: []string{"\x1b[1mPACKAGE             NEWEST"}, wide: true},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range test.env {
				t.Setenv(key, value)
			}
			screen, terminal, err := pty.Open()
			if err != nil {
				t.Skipf("this machine has no pseudo terminals: %v", err)
			}
			must.NoError(t, pty.Setsize(terminal, &pty.Winsize{Rows: 24, Cols: 40}))
			shown := make(chan string)
			go func() {
				var b bytes.Buffer
				_, _ = io.Copy(&b, screen) // it ends with an error when the terminal is closed
				shown <- b.String()
			}()
			Run(t.Context(), test.args, os.Stdin, terminal, terminal)
			must.NoError(t, terminal.Close())
			text := strings.ReplaceAll(<-shown, "\r\n", "\n")
			must.NoError(t, screen.Close())
			must.Contain(t, "screen", text, test.want...)
			must.Lack(t, "screen", text, test.lacks...)
			for line := range strings.Lines(codes.ReplaceAllString(text, "")) {
				if n := messages.Cells(strings.TrimRight(line, "\n")); n > 40 && !test.wide {
					t.Errorf("a line of %d columns: %q", n, line)
				}
			}
		})
	}
}
