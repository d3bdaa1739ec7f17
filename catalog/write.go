package catalog

import (
	"bufio"
	"fmt"
	"io"
	"runtime"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
	"fairlead.dev/fairlead/catalog/internal/yamljson"
)

// WriteJSON writes the catalog as indented JSON objects in canonical order: by
// package, and within it the package itself, channels and bundles by name,
// objects of other schemas by schema, and deprecations. Objects without a
// package come last.
func WriteJSON(w io.Writer, c *Catalog) error { return write(w, canonicalOrder(c), JSON) }

// WriteYAML writes the catalog as YAML documents in the order of WriteJSON,
// with the keys of each object sorted.
func WriteYAML(w io.Writer, c *Catalog) error { return write(w, canonicalOrder(c), YAML) }

// Format is a way to write a catalog.
type Format string

// The formats, by the extension of their files.
const (
	JSON Format = "json"
	YAML Format = "yaml"
)

// Write writes the catalog in a format, as WriteJSON or WriteYAML does.
func Write(w io.Writer, c *Catalog, format Format) error {
	if err := format.check(); err != nil {
		return fmt.Errorf("write catalog: %w", err)
	}
	return write(w, canonicalOrder(c), format)
}

func (f Format) check() error {
	if f != JSON && f != YAML {
		return fmt.Errorf("there is no format %q; choose %s or %s", string(f), JSON, YAML)
	}
	return nil
}

// write writes the objects in their order, while others are being encoded.
func write(w io.Writer, objects []ordered, format Format) error {
	out := bufio.NewWriterSize(w, 64<<10)
	encoded := encodeAll(objects, format, runtime.GOMAXPROCS(0))
	defer func() {
		encoded.release()
		close(encoded.ended)
	}()
	for _, o := range objects {
		encoded.release()
		r := <-<-encoded.results
		encoded.last = r.text
		text, err := *r.text, r.err
		if err != nil {
			return fmt.Errorf("write %s: %w", o.name(), err)
		}
		if _, err := out.Write(text); err != nil {
			return fmt.Errorf("write catalog: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write catalog: %w", err)
	}
	return nil
}

// pipeline encodes objects with several workers and hands out the results in
// order. No more than a few results wait to be taken.
type pipeline struct {
	results chan chan encodedObject // in order
	ended   chan struct{}
	last    *[]byte // handed out, to be reused
}

// encodedObject is what became of an object, in a buffer that returns to the
// others once it is written.
type encodedObject struct {
	text *[]byte
	err  error
}

// encodeJob is an object to encode, and where the result is awaited.
type encodeJob struct {
	object any
	result chan encodedObject
}

// encodeAll starts to encode. The caller has to take all results, or to stop.
func encodeAll(objects []ordered, format Format, workers int) *pipeline {
	p := &pipeline{results: make(chan chan encodedObject, 2*workers), ended: make(chan struct{})}
	jobs := make(chan encodeJob)
	for range workers {
		go func() {
			var e encoder
			for j := range jobs {
				buffer := buffers.Get().(*[]byte)
				e.out, e.sorted = e.out[:0], format == YAML
				err := e.encode(j.object)
				switch {
				case err != nil:
				case format == YAML:
					*buffer = yamljson.AppendYAML(append((*buffer)[:0], "---\n"...), e.out)
				default:
					*buffer = append(rawjson.AppendIndented((*buffer)[:0], e.out, "    "), '\n')
				}
				j.result <- encodedObject{buffer, err}
			}
		}()
	}
	go func() {
		defer close(jobs)
		for _, o := range objects {
			job := encodeJob{o.object, make(chan encodedObject, 1)}
			select {
			case p.results <- job.result:
				jobs <- job
			case <-p.ended:
				return
			}
		}
	}()
	return p
}

func (p *pipeline) release() {
	if p.last != nil {
		buffers.Put(p.last)
		p.last = nil
	}
}
