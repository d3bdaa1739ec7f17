package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAMigrationThatIsNotAsPlanned is one of which nothing was done, unlike one that went wrong.
func TestAMigrationThatIsNotAsPlanned(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		code int
		told string
		not  string
	}{
		"it is done":     {nil, command.ExitOK, "done", "error"},
		"not as planned": {fmt.Errorf("x: %w", &ops.StaleError{Subscription: "ops/kite", Changed: []string{"it has kite.v2"}}), command.ExitNo, "it has kite.v2", "continues from here"},
		"gone wrong":     {errors.New("no cluster"), command.ExitFailed, "continues from here; to take it back: fairlead migrate --undo e --backup-namespace kept", "not as it was"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			m := migration{Change: command.Change{Streams: command.Streams{In: strings.NewReader(""), Out: &out, Err: &out}, Yes: true, Output: command.OutputText}, timeout: time.Minute, again: " --backup-namespace kept"}
			v := &ops.Move{Plan: &migrate.Plan{Extension: &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "e"}}}}
			err := m.act(t.Context(), v, func(io.Writer) error { return nil }, "?", func(context.Context, *ops.Move, func(string)) error { return test.err }, "done")
			text := fmt.Sprint(out.String(), err)
			if code := command.Code(err); code != test.code || !strings.Contains(text, test.told) || strings.Contains(text, test.not) {
				t.Errorf("exit code %d: %s", code, text)
			}
		})
	}
}

// TestCommandsOfAMigration that are printed are about the same cluster and the same backup, and can be pasted.
func TestCommandsOfAMigration(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"nothing said":        {[]string{"etcd", "-n", "ops", "--yes"}, ""},
		"the usual namespace": {[]string{"etcd", "--backup-namespace", "olm"}, ""},
		"another namespace":   {[]string{"etcd", "-n", "ops", "--backup-namespace=kept"}, " --backup-namespace kept"},
		"another cluster":     {[]string{"etcd", "--context", "my kite's", "--kubeconfig", "/a/b", "--backup-namespace", "kept"}, ` --backup-namespace kept --context 'my kite'\''s' --kubeconfig /a/b`},
		"another user":        {[]string{"etcd", "--as", "dev", "--as-group", "a", "--as-group", "b", "--token", "secret", "--insecure-skip-tls-verify"}, ` --as dev --as-group a --as-group b --insecure-skip-tls-verify=true`},
	} {
		cmd := newMigrateCommand(command.Streams{})
		must.NoError(t, cmd.ParseFlags(test.args))
		if got := repeated(cmd.Flags()); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
