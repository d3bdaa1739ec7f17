package cli

import (
	"fairlead.dev/fairlead/internal/cli/command"

	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"
)

// session runs commands about one cluster.
type session struct {
	program, dataDir string
}

func (s session) run(t *testing.T, wantCode int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(s.program, append(args, "--name", "cli", "--data-dir", s.dataDir)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if code := cmd.ProcessState.ExitCode(); code != wantCode {
		t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, wantCode, &out, &errs)
	}
	return out.String(), errs.String()
}

func contains(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

func TestClusterFromStartToStop(t *testing.T) {
	// Build the real program: its own processes are part of what is tested.
	if testing.Short() {
		t.Skip("building the program takes a while")
	}
	path := must.Value(devcluster.Program())(t)
	s := session{path, filepath.Join(t.TempDir(), "data")}
	out, _ := s.run(t, command.ExitNo, "cluster", "status")
	contains(t, out, "not running", s.dataDir)
	_, errs := s.run(t, command.ExitFailed, "cluster", "kubeconfig")
	contains(t, errs, "not running", "fairlead cluster start")
	s.run(t, command.ExitFailed, "cluster", "logs")

	out, errs = s.run(t, command.ExitOK, "cluster", "start", "--nodes", "2", "-o", "json")
	t.Cleanup(func() { s.run(t, command.ExitOK, "cluster", "stop") })
	contains(t, errs, "kube-apiserver", "ready")
	var status devcluster.Status
	if err := json.Unmarshal([]byte(out), &status); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if !status.Running || status.Name != "cli" || status.Nodes != 2 || status.StartSeconds <= 0 || status.MemoryBytes <= 0 || len(status.Components) != 5 {
		t.Errorf("status is %+v", status)
	}
	_, errs = s.run(t, command.ExitFailed, "cluster", "start")
	contains(t, errs, s.dataDir+" is in use by process ")

	out, _ = s.run(t, command.ExitOK, "cluster", "status")
	contains(t, out, status.APIServer, status.Registry, status.Kubeconfig, "2, simulated", "etcd", "kube-scheduler", "MiB")
	out, _ = s.run(t, command.ExitOK, "cluster", "status", "-o", "yaml")
	contains(t, out, "running: true\n", "name: kwok\n")
	out, _ = s.run(t, command.ExitOK, "cluster", "kubeconfig")
	if out != status.Kubeconfig+"\n" {
		t.Errorf("kubeconfig is %q, want %q", out, status.Kubeconfig)
	}
	out, _ = s.run(t, command.ExitOK, "cluster", "kubeconfig", "--content")
	contains(t, out, "server: "+status.APIServer, "client-certificate-data:")
	out, _ = s.run(t, command.ExitOK, "cluster", "logs", "kube-apiserver")
	contains(t, out, "v1.36.3")

	out, _ = s.run(t, command.ExitOK, "cluster", "stop")
	contains(t, out, "is stopped")
	for _, c := range status.Components {
		if err := syscall.Kill(c.PID, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%s still runs: %v", c.Name, err)
		}
	}
	out, _ = s.run(t, command.ExitOK, "cluster", "stop")
	contains(t, out, "is not running")
	out, _ = s.run(t, command.ExitOK, "cluster", "logs", "--tail", "1")
	contains(t, out, "kube-apiserver          | ", "etcd                    | ")

	// Start the same cluster again and interrupts it.
	cmd := exec.Command(s.program, "cluster", "start", "--foreground", "--name", "cli", "--data-dir", s.dataDir)
	output := must.Value(cmd.StdoutPipe())(t)
	must.NoError(t, cmd.Start())
	text := make([]byte, 4<<10)
	n, err := output.Read(text) // nothing is printed before it is ready
	if err != nil {
		t.Error(err)
	}
	contains(t, string(text[:n]), "Cluster cli is ready", "nothing runs in them")
	s.run(t, command.ExitOK, "cluster", "status")
	cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); err != nil {
		t.Errorf("an interrupted cluster ends with: %v", err)
	}
	s.run(t, command.ExitNo, "cluster", "status")
}

func TestUsageErrors(t *testing.T) {
	tests := map[string]struct {
		args string
		want string
	}{
		"unknown command":         {"clutser", `unknown command "clutser"`},
		"unknown cluster command": {"cluster begin", `unknown command "begin"`},
		"unknown flag":            {"cluster start --nodse 3", "unknown flag: --nodse"},
		"bad number":              {"cluster start --nodes many", `"many"`},
		"bad format":              {"cluster status -o xml", `output format "xml": choose text, json or yaml`},
		"unknown component":       {"cluster logs kube-dns", `invalid argument "kube-dns"`},
		"arguments for none":      {"version please", `"please"`},
		"a v1 flag for v0":        {"install web --create-namespace", "--create-namespace is for the v1 API: add --api v1"},
		"a v0 flag for v1":        {"install web --api v1 --manual", "--manual is for the v0 API: leave it out"},
		"an API that is not one":  {"install web --api v2", `--api "v2": choose v0 or v1`},
		"a program is not asked":  {"uninstall web -o json", "add --dry-run or --yes"},
		"a revision that is none": {"rollback web --to 0", "revisions count from 1"},
		"a policy":                {"upgrade web --upgrade-constraint-policy Any", "choose CatalogProvided or SelfCertified"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := Run(t.Context(), strings.Fields(test.args), nil, &out, &errs)
			if code != command.ExitUsage {
				t.Errorf("exit code %d, want %d", code, command.ExitUsage)
			}
			contains(t, errs.String(), test.want, "--help' for usage.")
			if out.Len() > 0 {
				t.Errorf("standard output has %q", out.String())
			}
		})
	}
}

func TestBadClusterNames(t *testing.T) {
	for _, verb := range []string{"start", "stop", "status", "kubeconfig", "logs"} {
		var out, errs bytes.Buffer
		if code := Run(t.Context(), []string{"cluster", verb, "--name", "../up"}, nil, &out, &errs); code != command.ExitFailed {
			t.Errorf("%s: exit code %d, want %d", verb, code, command.ExitFailed)
		}
		contains(t, errs.String(), `cluster name "../up"`)
	}
}

func TestVersion(t *testing.T) {
	var out, errs bytes.Buffer
	if code := Run(t.Context(), []string{"version", "-o", "json"}, nil, &out, &errs); code != command.ExitOK {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	var info versionInfo
	must.NoError(t, json.Unmarshal(out.Bytes(), &info))
	if info.Fairlead == "" || !strings.HasPrefix(info.Go, "go1.") || !strings.Contains(info.Platform, "/") {
		t.Errorf("version is %+v", info)
	}
}
