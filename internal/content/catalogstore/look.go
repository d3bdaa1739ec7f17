package catalogstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"time"

	"fairlead.dev/fairlead/catalog"
)

// view is what can be told of a directory without reading its files.
type view struct {
	digest string
	taken  time.Time
	newest time.Time // change of any file
}

// granularity is more than what two changes of a file can be apart and still
// have the same time.
const granularity = time.Second

// settled tells whether a later change of any file is sure to show in a later
// view.
func (v view) settled() bool { return v.newest.Before(v.taken.Add(-granularity)) }

// State is a text that changes when the files of a catalog do, as far as that can
// be told without reading them.
func State(ctx context.Context, fsys fs.FS) (string, error) {
	v, err := look(ctx, fsys)
	return v.digest, err
}

// look takes a view of the files that belong to a catalog.
func look(ctx context.Context, fsys fs.FS) (view, error) {
	v := view{taken: time.Now()}
	files, problems, err := catalog.Files(ctx, fsys)
	if err != nil {
		return v, err
	}
	sum := sha256.New()
	for _, p := range problems {
		fmt.Fprintf(sum, "problem %q\n", p)
	}
	for _, name := range files {
		info, err := fs.Stat(fsys, name)
		if err != nil {
			return v, fmt.Errorf("look at the files of a catalog: %w", err)
		}
		changed, id := change(info)
		fmt.Fprintf(sum, "file %q %d %d %d %d\n", name, info.Size(), info.ModTime().UnixNano(), changed.UnixNano(), id)
		for _, t := range []time.Time{info.ModTime(), changed} {
			if t.After(v.newest) {
				v.newest = t
			}
		}
	}
	v.digest = hex.EncodeToString(sum.Sum(nil))
	return v, nil
}
