package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"fairlead.dev/fairlead/catalog/internal/docstream"
)

// loader reads files one after the other, and has several workers decode the
// documents at once, so that one large file keeps them all busy.
type loader struct {
	open    func(name string) (io.ReadCloser, error)
	limits  Limits
	workers int
	keeping keeping
	files   []string
	gather  *gatherer

	total     int64 // bytes read
	documents int   // cut
	jobs      int   // that were made of them
	// ahead bounds the jobs whose result is not in the spool, so that a
	// document that takes long does not let the others pile up; nil without a
	// spool.
	ahead *ahead

	held     int64       // estimated memory of the objects gathered so far
	expanded int64       // bytes that YAML aliases stand for
	full     atomic.Bool // one of these exceeds its limit: nothing more is to be read
	exceeded *LimitError // the first limit that the catalog as a whole exceeds
}

// aliasShare is which part of the bytes of a catalog may be those that YAML
// aliases stand for: what costs its author a few bytes costs a reader many.
const aliasShare = 8

// job is a document to decode, result what became of it. place orders them.
type job struct {
	place    place
	number   int // from 1; the others' results have none
	document docstream.Document
	buffer   *[]byte
}

type place struct{ file, document int }

type result struct {
	place  place
	number int // of its job
	decoded
	exceeded *LimitError // if this is where the catalog as a whole exceeds one
}

// spoolTo sends the bytes of objects to a spool instead of keeping them.
func (l *loader) spoolTo(to *spool) {
	l.keeping, l.gather.spool = keepRaw, to
	l.ahead = newAhead(l.limits.DocumentBytes)
	to.passed = l.ahead.leave
}

// buffers are reused for the text of documents.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// run reads everything into l.gather, or stops when ctx ends, without waiting
// for anything.
func (l *loader) run(ctx context.Context) {
	jobs := make(chan job)
	results := make(chan result, l.workers)
	var workers sync.WaitGroup
	for range l.workers {
		workers.Go(func() {
			d := &decoder{keeper: keeper{limits: l.limits, keeping: l.keeping}}
			for j := range jobs {
				position := Position{File: l.files[j.place.file], Line: j.document.Line}
				r := result{place: j.place, number: j.number, decoded: d.decode(j.document, position)}
				buffers.Put(j.buffer)
				results <- r
			}
		})
	}
	go func() {
		l.cut(ctx, jobs, results)
		close(jobs)
		workers.Wait()
		close(results)
	}()
	for {
		select {
		case r, ok := <-results:
			if !ok {
				return
			}
			l.take(r)
		case <-ctx.Done():
			// What is being read or decoded comes to its end by itself.
			go func() {
				for range results {
				}
			}()
			return
		}
	}
}

// take keeps a result. Once the catalog takes more than it may, those that were
// on their way are dropped, and no more are read.
func (l *loader) take(r result) {
	if !l.full.Load() && r.exceeded == nil {
		// Add what the result costs. Results come in any order, so the error names no position: it is the same each time.
		l.expanded += int64(r.decoded.expanded)
		if r.object != nil {
			l.held += Footprint(r.object)
		}
		switch {
		case l.held > l.limits.MemoryBytes:
			r.exceeded = &LimitError{Limit: "MemoryBytes", Value: l.limits.MemoryBytes, remedy: "split the catalog, or raise the limit on memory",
				Reason: "the catalog takes more memory than the limit"}
		case l.expanded > l.limits.TotalBytes/aliasShare:
			r.exceeded = &LimitError{Limit: "TotalBytes", Value: l.limits.TotalBytes, remedy: "write out less by YAML aliases, or raise the limit on bytes",
				Reason: "the YAML aliases of the catalog stand for more than an eighth of the limit"}
		}
		if r.exceeded != nil {
			l.full.Store(true)
		}
	}
	if l.full.Load() {
		r.object = nil
	}
	if e := r.exceeded; e != nil {
		if l.exceeded == nil {
			l.exceeded = e
		}
		r.problems, r.intended = append(r.problems, Problem{Severity: Error, Rule: RuleLimit, Position: e.At, Message: e.Reason + "; the rest was not read", Fix: e.remedy}), true
	}
	g := l.gather
	file := &g.files[r.place.file]
	if g.spool != nil && r.number > 0 {
		g.spool.add(r.number, r.line)
	}
	if r.object != nil {
		file.objects = append(file.objects, result{place: r.place, decoded: decoded{object: r.object}})
	}
	switch {
	case len(r.problems) == 0:
	case r.intended || slices.Contains([]string{".json", ".yaml", ".yml"}, strings.ToLower(path.Ext(g.names[r.place.file]))):
		g.record(r.place, r.problems)
	default:
		if file.doubt.first.problems == nil || r.place.compare(file.doubt.first.place) < 0 {
			file.doubt.first = r
		}
		file.doubt.more++
	}
}

// cut cuts all files into jobs, and reports those it cannot read as results.
func (l *loader) cut(ctx context.Context, jobs chan<- job, results chan<- result) {
	for i := range l.files {
		problem, exceeded := l.cutFile(ctx, i, jobs, results)
		switch {
		case exceeded != nil:
			results <- result{place: place{i, l.documents}, exceeded: exceeded}
		case problem != nil:
			results <- result{place: place{i, l.documents}, decoded: decoded{problems: Problems{*problem}, intended: problem.Rule != RuleNotAnObject}}
		}
		if ctx.Err() != nil || l.full.Load() || l.total > l.limits.TotalBytes || l.documents > l.limits.Documents {
			return
		}
	}
}

// cutFile returns what ends the reading of the file, or of the whole catalog.
func (l *loader) cutFile(ctx context.Context, i int, jobs chan<- job, results chan<- result) (*Problem, *LimitError) {
	file, err := l.open(l.files[i])
	if err != nil {
		return l.unreadable(i, err), nil
	}
	defer file.Close()
	metered := &meter{ctx: ctx, in: file, file: l.limits.FileBytes, total: &l.total, totalLimit: l.limits.TotalBytes}
	r := docstream.NewReader(metered, l.limits.DocumentBytes)
	if r.Binary() {
		return l.problem(i, 0, RuleNotAnObject, "this is not text", "list the file in an .indexignore file"), nil
	}
	for ctx.Err() == nil && !l.full.Load() {
		buffer := buffers.Get().(*[]byte)
		document, err := r.Next(*buffer)
		var large *docstream.TooLargeError
		switch {
		case err == io.EOF:
			buffers.Put(buffer)
			return nil, nil
		case errors.As(err, &large):
			l.documents++
			problem := l.problem(i, large.Line, RuleLimit, large.Error(), "split it, or raise the limit on the size of documents")
			results <- result{place: place{i, l.documents}, decoded: decoded{problems: Problems{*problem}}}
			continue
		case err != nil && l.total > l.limits.TotalBytes && ctx.Err() == nil:
			return nil, &LimitError{Limit: "TotalBytes", Value: l.limits.TotalBytes, At: Position{File: l.files[i]},
				Reason: "the catalog is larger than the limit", remedy: "split the file or the catalog, or raise the limit on bytes"}
		case err != nil:
			return l.unreadable(i, err), nil
		}
		if l.documents++; l.documents > l.limits.Documents {
			return nil, &LimitError{Limit: "Documents", Value: int64(l.limits.Documents), At: Position{File: l.files[i], Line: document.Line},
				Reason: fmt.Sprintf("there are more than %d documents", l.limits.Documents), remedy: "split the catalog, or raise the limit on documents"}
		}
		*buffer = document.Text
		// Hand a job to the workers, unless ctx ends before they are that far.
		j := job{place: place{i, l.documents}, document: document, buffer: buffer}
		if l.ahead != nil && !l.ahead.enter(ctx, len(j.document.Text)) {
			continue
		}
		l.jobs++
		j.number = l.jobs
		jobs <- j
	}
	return nil, nil
}

func (l *loader) unreadable(i int, err error) *Problem {
	var limit *limitError
	if errors.As(err, &limit) {
		return l.problem(i, 0, RuleLimit, limit.Error(), "split the file or the catalog, or raise the limit on bytes")
	}
	return l.problem(i, 0, RuleFileUnreadable, fmt.Sprintf("cannot be read: %v", err),
		"make it readable, remove it, or list it in an .indexignore file")
}

func (l *loader) problem(i, line int, rule Rule, message, fix string) *Problem {
	return &Problem{
		Severity: Error, Rule: rule, Position: Position{File: l.files[i], Line: line}, Message: message, Fix: fix,
	}
}

// meter counts what is read and ends it at the limits, or when ctx ends.
type meter struct {
	ctx        context.Context
	in         io.Reader
	file       int64 // that may still be read
	total      *int64
	totalLimit int64
}

type limitError struct{ what string }

func (e *limitError) Error() string { return e.what }

func (m *meter) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.in.Read(p)
	m.file -= int64(n)
	*m.total += int64(n)
	switch {
	case m.file < 0:
		return 0, &limitError{"the file is larger than the limit"}
	case *m.total > m.totalLimit:
		return 0, &limitError{"the catalog is larger than the limit; the rest was not read"}
	}
	return n, err
}
