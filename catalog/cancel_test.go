package catalog

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// atOnce is how soon a load has to end that is not wanted any more. It takes a
// few milliseconds; what it is to catch takes seconds.
const atOnce = 500 * time.Millisecond

// stuck is a file system whose files never end, or never begin.
type stuck struct {
	fs.FS
	text string // that each file repeats; empty if reading waits for ever
}

type stuckFile struct {
	fs.File
	text string
}

func (f stuckFile) Read(p []byte) (int, error) {
	if f.text == "" {
		select {}
	}
	return copy(p, f.text), nil
}

func (s stuck) Open(name string) (fs.File, error) {
	file, err := s.FS.Open(name)
	if err != nil || filepath.Ext(name) != ".yaml" {
		return file, err
	}
	return stuckFile{file, s.text}, nil
}

// wide is a directory of more files than anybody waits for.
type wide struct{ fs.FS }

type wideDir struct{ fs.File }

func (wideDir) ReadDir(int) ([]fs.DirEntry, error) {
	return fs.ReadDir(fstest.MapFS{"a.yaml": {}, "b.yaml": {}}, ".")
}

func (w wide) Open(name string) (fs.File, error) {
	file, err := w.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return wideDir{file}, nil
}

func TestLoadStopsAtOnce(t *testing.T) {
	large := "schema: custom\na: [" + strings.Repeat("&x {b: c}, ", 300_000) + "]\n"
	one := files(map[string]string{"a.yaml": ""})
	tests := map[string]fs.FS{
		"while a comment does not end":     stuck{one, "# comment\n"},
		"while documents do not end":       stuck{one, custom("x")},
		"while a document does not end":    stuck{one, "a: b\n"},
		"while an object does not end":     stuck{one, `{"a":`},
		"while a file does not answer":     stuck{one, ""},
		"while a large document is parsed": files(map[string]string{"a.yaml": large, "b.yaml": large}),
		"while a directory is listed":      wide{files(nil)},
	}
	for name, fsys := range tests {
		t.Run(name, func(t *testing.T) {
			limits := Limits{FileBytes: 1 << 50, TotalBytes: 1 << 50, DocumentBytes: 1 << 28, Documents: 1 << 40, Files: 1 << 40}
			for how, load := range map[string]func(context.Context) error{
				"Load": func(ctx context.Context) error {
					_, err := Load(ctx, fsys, LoadOptions{Limits: limits})
					return err
				},
				"Build": func(ctx context.Context) error {
					_, err := Build(ctx, fsys, "sha256:0", filepath.Join(t.TempDir(), "index"), LoadOptions{Limits: limits})
					return err
				},
			} {
				ctx, cancel := context.WithCancel(context.Background())
				var ended time.Time
				time.AfterFunc(100*time.Millisecond, func() {
					ended = time.Now()
					cancel()
				})
				err := load(ctx)
				if took := time.Since(ended); !errors.Is(err, context.Canceled) || took > atOnce {
					t.Errorf("%s ended %v after it was cancelled, with error %v", how, took, err)
				}
			}
		})
	}
}
