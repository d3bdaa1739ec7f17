package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/test/must"
)

// connectionFlags are those of kubectl.
var connectionFlags = []string{"as", "as-group", "as-uid", "as-user-extra", "certificate-authority", "client-certificate", "client-key", "cluster", "context", "disable-compression",
	"insecure-skip-tls-verify", "kubeconfig", "request-timeout", "server", "tls-server-name", "token", "user"}

// TestConnectionFlagsOfCommands: each command that reaches a cluster has all of them, and names the rare ones in one place of its help.
func TestConnectionFlagsOfCommands(t *testing.T) {
	found := map[string]bool{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		if cmd.Flags().Lookup("kubeconfig") == nil {
			return
		}
		found[cmd.CommandPath()] = true
		for _, name := range connectionFlags {
			if cmd.Flags().Lookup(name) == nil {
				t.Errorf("%s has no --%s", cmd.CommandPath(), name)
			}
		}
	}
	for _, g := range groups(command.Streams{}) {
		for _, cmd := range g.commands {
			walk(cmd)
		}
	}
	for _, name := range []string{"install", "status", "list", "why", "why-not", "outdated", "resolve", "plan", "history", "operands", "trace", "approve", "hold", "unhold", "upgrade", "rollback",
		"uninstall", "migrate", "search", "info", "versions", "check", "must-gather", "manager", "catalog add", "catalog list", "catalog remove", "bundle extract"} {
		if !found[name] {
			t.Errorf("%s has no connection flags", name)
		}
	}
	help := func(args ...string) string {
		var out, errs bytes.Buffer
		if code := Run(t.Context(), args, nil, &out, &errs); code != command.ExitOK {
			t.Errorf("%q: exit code %d: %s", args, code, errs.String())
		}
		return out.String()
	}
	status := help("status", "--help")
	must.Contain(t, "help of status", status, "\nConnection flags, as kubectl has them (fairlead help connection):\n  --as --as-group ", "      --kubeconfig string   kubeconfig of the cluster (default: $KUBECONFIG, then ~/.kube/config)\n")
	must.Lack(t, "help of status", status, "Username to impersonate")
	must.Lack(t, "help of version", help("version", "--help"), "Connection flags")
	topic := help("help", "connection")
	must.Contain(t, "the topic", topic, "Username to impersonate", "--kubeconfig string")
	for line := range strings.Lines(status) {
		if strings.HasPrefix(line, "  --") && len(line) > 110 {
			t.Errorf("a line of connection flags is too long: %s", line)
		}
	}
}

// TestTokensAreNotRepeated in the commands that answers advise.
func TestTokensAreNotRepeated(t *testing.T) {
	f := subject{}
	cmd := &cobra.Command{Use: "why"}
	f.flags(cmd)
	must.NoError(t, cmd.ParseFlags([]string{"--token", "secret", "--as", "dev", "--insecure-skip-tls-verify", "--catalog", "c=" + t.TempDir()}))
	if err := f.checkCluster(cmd); err == nil || !strings.Contains(err.Error(), "--as names a cluster, and with --catalog or -f none is asked") {
		t.Errorf("a cluster that is not asked: %v", err)
	}
	again := repeatedFlags(cmd)
	must.Contain(t, "flags", strings.Join(again, " "), "--as dev", "--insecure-skip-tls-verify=true")
	must.Lack(t, "flags", strings.Join(again, " "), "secret", "--token")
}
