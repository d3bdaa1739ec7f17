// Package docstream cuts a file of JSON objects and YAML documents, in any
// mixture, into its parts.
//
// A part that begins with an object as JSON writes it ends with that object's
// closing bracket; any other part is YAML and ends at the next line "---" or
// "...". Blank lines, comments and YAML directives between parts are passed
// over, so that every part begins with its first line of content.
//
// The package only cuts: whether a part is well-formed is for its reader to
// find out. It holds one part at a time, of a bounded size. Start reading at
// [Reader.Next].
package docstream

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// Document is one part of a file.
type Document struct {
	Text []byte
	Line int // of the file where it begins, from 1
	JSON bool
}

// TooLargeError reports a part that is over the limit. It was passed over, and
// the Reader can go on with the next one.
type TooLargeError struct {
	Line  int // where it begins
	Limit int
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("a document has more than %d bytes", e.Limit)
}

// Reader cuts a file into documents.
type Reader struct {
	in    *bufio.Reader
	limit int
	line  int    // number of the line that chunk is of
	chunk []byte // read but not used: a line, or a part of one
	err   error  // that ended the input, once chunk is used up
	start bool   // chunk is the beginning of a line
}

const bufferSize = 64 << 10

// NewReader reads from in, in UTF-8 or, if it begins with a byte order mark, in
// UTF-16. Documents of more than limit bytes are refused.
func NewReader(in io.Reader, limit int) *Reader {
	return &Reader{in: asUTF8(bufio.NewReaderSize(in, bufferSize)), limit: limit}
}

// Binary reports whether the file does not begin like text. It must be asked
// before the first document is read.
func (r *Reader) Binary() bool {
	head, _ := r.in.Peek(512)
	return bytes.IndexByte(head, 0) >= 0
}

// Next returns the next document, in buf if that is large enough. At the end
// of the file the error is io.EOF.
func (r *Reader) Next(buf []byte) (Document, error) {
	if err := r.skipBetween(); err != nil {
		return Document{}, err
	}
	d := Document{Line: r.line, JSON: r.isJSON()}
	size := 0
	take := func(part []byte) {
		if size += len(part); size <= r.limit {
			buf = append(buf, part...)
		}
	}
	buf = buf[:0]
	var err error
	if d.JSON {
		err = r.readJSON(take)
	} else {
		for { // lines until one that ends the document
			take(r.chunk)
			if err = r.advance(); err != nil || r.start && isSeparator(r.chunk) {
				break
			}
		}
	}
	switch {
	case err != nil && err != io.EOF:
		return Document{}, err
	case size > r.limit:
		return Document{}, &TooLargeError{Line: d.Line, Limit: r.limit}
	}
	d.Text = buf
	return d, nil
}

// advance replaces chunk by what follows it.
func (r *Reader) advance() error {
	ended := len(r.chunk) > 0 && r.chunk[len(r.chunk)-1] == '\n'
	if r.line == 0 || ended {
		r.line++
	}
	r.start = r.line == 1 && r.chunk == nil || ended
	if r.err != nil {
		r.chunk = nil
		return r.err
	}
	chunk, err := r.in.ReadSlice('\n')
	r.chunk = chunk
	switch {
	case err == nil || err == bufio.ErrBufferFull:
		return nil
	case len(chunk) == 0:
		r.chunk = nil
	}
	r.err = err
	if r.chunk == nil {
		return err
	}
	return nil
}

// skipBetween moves to the next line of content.
func (r *Reader) skipBetween() error {
	for {
		content := bytes.TrimLeft(r.chunk, " \t\r\n")
		switch {
		case len(content) == 0:
		case r.start && r.chunk[0] == '%':
		case r.start && isSeparator(r.chunk):
			if rest := bytes.TrimSpace(r.chunk[3:]); r.chunk[0] == '-' && len(rest) > 0 && rest[0] != '#' {
				return nil
			}
		case content[0] == '#':
		default:
			return nil
		}
		for begun := false; !begun; begun = r.start { // the next line
			if err := r.advance(); err != nil {
				return err
			}
		}
	}
}

// isSeparator reports whether a line ends a document.
func isSeparator(line []byte) bool {
	if len(line) < 3 || string(line[:3]) != "---" && string(line[:3]) != "..." {
		return false
	}
	return len(line) == 3 || bytes.IndexByte([]byte(" \t\r\n"), line[3]) >= 0
}
