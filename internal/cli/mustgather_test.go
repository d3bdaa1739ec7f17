package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/test/must"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestWriteArchive: a file that is there is not written over, and of one that could not be finished nothing is left.
func TestWriteArchive(t *testing.T) {
	var out, errs bytes.Buffer
	s := command.Streams{Out: &out, Err: &errs}
	file := filepath.Join(t.TempDir(), "archive.tar.gz")
	g := ops.Gathering{Client: cluster(t), Namespace: "olm", About: "about"}
	must.NoError(t, writeArchive(t.Context(), s, g, file))
	if info, err := os.Stat(file); err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 || !strings.Contains(out.String(), file+" has ") {
		t.Errorf("%v, %v, %q", info, err, out.String())
	}
	if err := writeArchive(t.Context(), s, g, file); !errors.Is(err, os.ErrExist) {
		t.Errorf("of a file that is there: %v", err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	other := file + ".other"
	if err := writeArchive(stopped, s, ops.Gathering{Client: stoppedReader{g.Client}, Namespace: "olm"}, other); err == nil {
		t.Error("it was written although it was stopped")
	}
	if _, err := os.Stat(other); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of what was stopped there is %v", err)
	}
}

// stoppedReader fails as clients do once their context is done.
type stoppedReader struct{ client.Reader }

func (r stoppedReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return r.Reader.List(ctx, list, options...)
}
