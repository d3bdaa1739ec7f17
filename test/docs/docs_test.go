package docs

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/cli"
	"fairlead.dev/fairlead/internal/cli/authoring"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// update puts into the pages what is printed, where that is something else.
var update = flag.Bool("update", false, "write what commands print into the pages")

// root is the root of the repository.
var root = filepath.Join("..", "..")

// programs are what the pages call. The test binary is each of them when it is called by its name.
var programs = map[string]func() int{
	"fairlead": func() int { return cli.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr) },
	"opm":      func() int { return authoring.RunOpm(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr) },
}

func TestMain(m *testing.M) {
	if run, ok := programs[filepath.Base(os.Args[0])]; ok {
		os.Exit(run())
	}
	os.Exit(m.Run())
}

// TestPages types what the pages show.
func TestPages(t *testing.T) {
	for _, page := range []string{"catalogs.md", "resolution-v1.md", "asking.md", "installplans.md", "v1-commands.md", "platform-compatibility.md", "signatures.md"} {
		t.Run(page, func(t *testing.T) {
			content := must.Value(os.ReadFile(filepath.Join(root, "docs", page)))(t)
			s := start(t)
			todo := steps(s.there.Replace(string(content)))
			if len(todo) == 0 {
				t.Fatal("the page shows no command")
			}
			for i, step := range todo {
				if tool, missing := missingTool(step.command); missing {
					if tool == "openssl" {
						t.Skip("this machine has no openssl, with which the page makes the key that its later commands need")
					}
					t.Logf("%s:%d is not tried: this machine has no %s", page, step.line, tool)
					continue
				}
				// Type a command and return the lines that it prints, on whichever stream.
				const end = "::end of output::"
				must.Value(fmt.Fprintf(s.in, "%s\necho; echo '%s'\n", step.command, end))(s.t)
				var got []string
				for {
					line, err := s.out.ReadString('\n')
					if err != nil {
						s.t.Fatalf("the shell ended at: %s: %v", step.command, err)
					}
					if line = strings.TrimSuffix(line, "\n"); line == end {
						break
					}
					got = append(got, line)
				}
				for len(got) > 0 && got[len(got)-1] == "" {
					got = got[:len(got)-1]
				}
				if *update && !matches(step.output, got) {
					todo[i].output = got
					continue
				}
				if !matches(step.output, got) {
					t.Errorf("docs/%s:%d: $ %s\nprints:\n%s\nthe page says:\n%s", page, step.line, step.command,
						strings.Join(got, "\n"), strings.Join(step.output, "\n"))
				}
			}
			if *update {
				text := s.back.Replace(rewrite(string(content), todo))
				must.NoError(t, os.WriteFile(filepath.Join(root, "docs", page), []byte(text), 0o600))
			}
		})
	}
}

// missingTool names a program that a command needs and that not every machine has.
func missingTool(command string) (string, bool) {
	for _, tool := range []string{"curl", "grpcurl", "git", "openssl"} {
		if !strings.Contains(command, tool+" ") {
			continue
		}
		if _, err := exec.LookPath(tool); err != nil {
			return tool, true
		}
	}
	return "", false
}

// session is a shell in a directory with a copy of the examples, with a registry and ports of its own.
type session struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
	// there puts the session's own registry and ports into a page, back takes them out of what is printed.
	there, back *strings.Replacer
}

func start(t *testing.T) *session {
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	must.NoError(t, os.CopyFS(filepath.Join(work, "examples"), os.DirFS(filepath.Join(root, "examples"))))
	bin := filepath.Join(dir, "bin")
	must.NoError(t, os.Mkdir(bin, 0o700))
	self := must.Value(os.Executable())(t)
	for name := range programs {
		must.NoError(t, os.Symlink(self, filepath.Join(bin, name)))
	}
	registry := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(registry.Close)

	shell := exec.Command("bash", "--noprofile", "--norc")
	shell.Dir = work
	shell.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+dir, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "OLM_CACHE_DIR=")
	in := must.Value(shell.StdinPipe())(t)
	out, writer := io.Pipe()
	shell.Stdout, shell.Stderr = writer, writer
	must.NoError(t, shell.Start())
	t.Cleanup(func() {
		in.Close()
		go io.Copy(io.Discard, out) // what is still said at the end is of no interest
		if err := shell.Wait(); err != nil {
			t.Logf("the shell ended with %v", err)
		}
	})
	host, grpc, http := strings.TrimPrefix(registry.URL, "http://"), freePort(t), freePort(t)
	return &session{t: t, in: in, out: bufio.NewReader(out),
		there: strings.NewReplacer("localhost:5000", host, "50051", grpc, "8080", http),
		back:  strings.NewReplacer(host, "localhost:5000", grpc, "50051", http, "8080")}
}

// freePort is a port that nobody listens at.
func freePort(t *testing.T) string {
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must.NoError(t, err)
	return port
}
