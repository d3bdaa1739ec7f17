package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

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
	// ahead has an element for each job whose result is not in the spool, so
	// that a document that takes long does not let the others pile up; nil
	// without a spool.
	ahead chan struct{}
}

// maxAhead is how many documents may be decoded before an earlier one is.
const maxAhead = 256

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
}

// spoolTo sends the bytes of objects to a spool instead of keeping them.
func (l *loader) spoolTo(to *spool) {
	l.keeping, l.gather.spool = keepRaw, to
	l.ahead = make(chan struct{}, maxAhead)
	to.passed = func() { <-l.ahead }
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
		workers.Go(func() { l.work(jobs, results) })
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
			l.gather.add(r)
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

func (l *loader) work(jobs <-chan job, results chan<- result) {
	d := newDecoder(l.limits, l.keeping)
	for j := range jobs {
		position := Position{File: l.files[j.place.file], Line: j.document.Line}
		r := result{j.place, j.number, d.decode(j.document, position)}
		buffers.Put(j.buffer)
		results <- r
	}
}

// cut cuts all files into jobs, and reports those it cannot read as results.
func (l *loader) cut(ctx context.Context, jobs chan<- job, results chan<- result) {
	for i := range l.files {
		if problem := l.cutFile(ctx, i, jobs, results); problem != nil {
			results <- result{place: place{i, l.documents}, decoded: decoded{problems: Problems{*problem}, intended: problem.Rule != RuleNotAnObject}}
		}
		if ctx.Err() != nil || l.total > l.limits.TotalBytes || l.documents > l.limits.Documents {
			return
		}
	}
}

func (l *loader) cutFile(ctx context.Context, i int, jobs chan<- job, results chan<- result) *Problem {
	file, err := l.open(l.files[i])
	if err != nil {
		return l.unreadable(i, err)
	}
	defer file.Close()
	metered := &meter{ctx: ctx, in: file, file: l.limits.FileBytes, total: &l.total, totalLimit: l.limits.TotalBytes}
	r := docstream.NewReader(metered, l.limits.DocumentBytes)
	if r.Binary() {
		return l.problem(i, 0, RuleNotAnObject, "this is not text", "list the file in an .indexignore file")
	}
	for ctx.Err() == nil {
		buffer := buffers.Get().(*[]byte)
		document, err := r.Next(*buffer)
		var large *docstream.TooLargeError
		switch {
		case err == io.EOF:
			buffers.Put(buffer)
			return nil
		case errors.As(err, &large):
			l.documents++
			problem := l.problem(i, large.Line, RuleLimit, large.Error(), "split it, or raise the limit on the size of documents")
			results <- result{place: place{i, l.documents}, decoded: decoded{problems: Problems{*problem}}}
			continue
		case err != nil:
			return l.unreadable(i, err)
		}
		if l.documents++; l.documents > l.limits.Documents {
			return l.problem(i, document.Line, RuleLimit, fmt.Sprintf("there are more than %d documents; the rest was not read", l.limits.Documents),
				"split the catalog, or raise the limit on documents")
		}
		*buffer = document.Text
		l.send(ctx, job{place: place{i, l.documents}, document: document, buffer: buffer}, jobs)
	}
	return nil
}

// send hands a job to the workers, unless ctx ends before they are that far.
func (l *loader) send(ctx context.Context, j job, jobs chan<- job) {
	if l.ahead != nil {
		select {
		case l.ahead <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
	l.jobs++
	j.number = l.jobs
	jobs <- j
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
