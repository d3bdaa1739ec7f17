package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
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
	// Problems are known of the content before it is read, for example because
	// something was left out where it was converted. They count as if the files
	// had them.
	Problems Problems
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

// loadTree is Load, but what could not be read is no error. With a spool, the
// bytes of objects go there, and a catalog that exceeds a limit as a whole is a
// *LimitError.
func loadTree(ctx context.Context, fsys fs.FS, opts LoadOptions, to *spool) (*Catalog, error) {
	if fsys == nil {
		return nil, errors.New("load catalog: no file system was given")
	}
	w := &walker{ctx: ctx, fsys: fsys, limits: opts.Limits.withDefaults()}
	w.walk()
	l := newLoader(w.files, opts)
	l.open = func(name string) (io.ReadCloser, error) { return fsys.Open(name) }
	l.gather.record(place{}, w.problems)
	if to == nil {
		return l.load(ctx)
	}
	l.spoolTo(to)
	c, err := l.load(ctx)
	if err == nil && l.exceeded != nil {
		return nil, l.exceeded // what was read of it is no catalog that someone has made
	}
	return c, err
}

func newLoader(files []string, opts LoadOptions) *loader {
	limits := opts.Limits.withDefaults()
	l := &loader{
		limits:  limits,
		workers: cmp.Or(opts.Workers, runtime.GOMAXPROCS(0)),
		files:   files,
		gather: &gatherer{names: files, files: make([]gathered, len(files)),
			errors: findings{limit: limits.Problems}, warnings: findings{limit: limits.Problems}},
	}
	l.gather.record(place{}, opts.Problems)
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
	// What was gathered.
	g := l.gather
	c := &Catalog{}
	for i := range g.files {
		file := &g.files[i]
		if file.doubt.first.problems != nil { // it has errors and need not be a catalog: one object makes it one
			first := file.doubt.first.problems[0]
			if len(file.objects) == 0 {
				first = Problem{
					Severity: Warning, Rule: RuleFileNotCatalog, Position: Position{File: first.Position.File},
					Message: "the file holds no object with a schema; it was passed over",
					Fix:     "list it in an .indexignore file",
				}
			} else if file.doubt.more > 1 {
				first.Message += fmt.Sprintf(" (and %d more such errors in the file)", file.doubt.more-1)
			}
			g.record(file.doubt.first.place, Problems{first})
		}
		slices.SortFunc(file.objects, func(a, b result) int { return a.place.compare(b.place) })
		for _, r := range file.objects {
			switch o := r.object.(type) {
			case *Package:
				c.Packages = append(c.Packages, *o)
			case *Channel:
				c.Channels = append(c.Channels, *o)
			case *Bundle:
				c.Bundles = append(c.Bundles, *o)
			case *Deprecations:
				c.Deprecations = append(c.Deprecations, *o)
			case *Meta:
				c.Others = append(c.Others, *o)
			}
		}
		*file = gathered{}
	}
	c.LoadProblems = append(g.errors.list(Error), g.warnings.list(Warning)...)
	return c, nil
}

// LoadFile reads one stream of objects, with the rules and results of Load.
// Problems call it name.
func LoadFile(ctx context.Context, name string, content io.Reader, opts LoadOptions) (*Catalog, error) {
	l := newLoader([]string{name}, opts)
	l.open = func(string) (io.ReadCloser, error) { return io.NopCloser(content), nil }
	c, err := l.load(ctx)
	if err != nil {
		return nil, err
	}
	return c, c.LoadProblems.Err()
}

// EachPosition calls do with the place of every object and of every load
// problem, which it may change.
func (c *Catalog) EachPosition(do func(*Position)) {
	for i := range c.Packages {
		do(&c.Packages[i].Position)
	}
	for i := range c.Channels {
		do(&c.Channels[i].Position)
	}
	for i := range c.Bundles {
		do(&c.Bundles[i].Position)
	}
	for i := range c.Deprecations {
		do(&c.Deprecations[i].Position)
	}
	for i := range c.Others {
		do(&c.Others[i].Position)
	}
	for i := range c.LoadProblems {
		do(&c.LoadProblems[i].Position)
	}
}
