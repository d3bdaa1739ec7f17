package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
)

// LoadOptions tune Load. The zero value is right for most callers.
type LoadOptions struct {
	// Limits bound what is read; zero fields mean the defaults.
	Limits Limits
	// Workers is how many documents are decoded at once; 0 means one for
	// each CPU. The result does not depend on it.
	Workers int
	// DropPayloads is for who only wants to judge a catalog: payloads and
	// objects of unknown schemas are read and judged, but their bytes are not
	// kept. Asking for them is an error then.
	DropPayloads bool
}

// Limits bound what a catalog may cost to read. A zero field means the default
// in its comment.
type Limits struct {
	FileBytes     int64 // of one file; 1 GiB
	TotalBytes    int64 // of all files together; 4 GiB
	DocumentBytes int   // of one document, also once its YAML aliases are replaced; 32 MiB
	Files         int   // files and directories; 100,000
	Documents     int   // in all files together; 1,000,000
	Depth         int   // of nested lists and objects; 100
	Aliases       int   // YAML aliases used in one document; 1,000
	Items         int   // entries, properties or related images of one object; 100,000
	Problems      int   // listed, of each severity, before the rest is only counted; 100
}

func (l Limits) withDefaults() Limits {
	return Limits{
		FileBytes:     cmp.Or(l.FileBytes, 1<<30),
		TotalBytes:    cmp.Or(l.TotalBytes, 4<<30),
		DocumentBytes: cmp.Or(l.DocumentBytes, 32<<20),
		Files:         cmp.Or(l.Files, 100_000),
		Documents:     cmp.Or(l.Documents, 1_000_000),
		Depth:         cmp.Or(l.Depth, 100),
		Aliases:       cmp.Or(l.Aliases, 1_000),
		Items:         cmp.Or(l.Items, 100_000),
		Problems:      cmp.Or(l.Problems, 100),
	}
}

// Load reads the whole tree of a catalog: every file that no .indexignore file
// leaves out, whatever its name, as JSON objects and YAML documents.
//
// A file without an object that has a schema is no part of a catalog. If its
// name ends in .json, .yaml or .yml that is an error, as the author must have
// meant something; any other (a README, a Dockerfile, an image) is passed over
// with a warning in LoadProblems.
//
// If something could not be read, the error is an *InvalidError that lists all
// of it with file and line, and the Catalog holds everything else. If the
// reading was not finished because ctx ended, there is no Catalog.
func Load(ctx context.Context, fsys fs.FS, opts LoadOptions) (*Catalog, error) {
	c, err := loadTree(ctx, fsys, opts, nil)
	if err != nil {
		return nil, err
	}
	return c, c.LoadProblems.Err()
}

// loadTree is Load, but what could not be read is no error, and the bytes of
// objects go to the spool if there is one.
func loadTree(ctx context.Context, fsys fs.FS, opts LoadOptions, to *spool) (*Catalog, error) {
	if fsys == nil {
		return nil, errors.New("load catalog: no file system was given")
	}
	w := &walker{ctx: ctx, fsys: fsys, limits: opts.Limits.withDefaults()}
	w.walk()
	l := newLoader(w.files, opts)
	l.open = func(name string) (io.ReadCloser, error) { return fsys.Open(name) }
	l.gather.problems(w.problems)
	if to != nil {
		l.spoolTo(to)
	}
	return l.load(ctx)
}

func newLoader(files []string, opts LoadOptions) *loader {
	limits := opts.Limits.withDefaults()
	l := &loader{
		limits:  limits,
		workers: cmp.Or(opts.Workers, runtime.GOMAXPROCS(0)),
		files:   files,
		gather:  newGatherer(files, limits.Problems),
	}
	if opts.DropPayloads {
		l.keeping = keepNothing
	}
	return l
}

// load reads all files.
func (l *loader) load(ctx context.Context) (*Catalog, error) {
	l.run(ctx)
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("load catalog: stopped before the end: %w", err)
	}
	return l.gather.catalog(), nil
}
