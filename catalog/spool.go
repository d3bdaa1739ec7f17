package catalog

import (
	"bytes"
	"hash/crc32"
	"io"
	"slices"
)

// spool writes the lines of objects to a file while the catalog is being
// loaded, in the order of their documents, so that their bytes need not be
// kept.
type spool struct {
	to      io.Writer
	offset  int64  // of the next line
	next    int    // number of the job whose line it is
	passed  func() // is called for each job, in order
	early   map[int]*spooled
	objects []indexed
	err     error // the first one
}

// spooled is an object on its way into the spool.
type spooled struct {
	id     Object
	packed *[]byte
	stored *stored
}

func newSpool(to io.Writer, offset int64) *spool {
	return &spool{to: to, offset: offset, next: 1, early: map[int]*spooled{}}
}

// spool packs the line of an object, whose payloads become parts of it.
func (d *decoder) spool(object any) (*spooled, error) {
	d.lines.out = d.lines.out[:0]
	if err := d.lines.encode(object); err != nil {
		return nil, err
	}
	line := d.lines.out
	s := &stored{}
	switch o := object.(type) {
	case *Bundle:
		partsOf(s, line, o.Payloads)
	case *Meta:
		o.Blob = nil
	}
	buffer := packedLines.Get().(*[]byte)
	packed := packTo(*buffer, line)
	if len(packed) == len(line) {
		packed = append((*buffer)[:0], line...)
	}
	*buffer = packed
	s.packed, s.size, s.sum = len(packed), len(line), crc32.Checksum(packed, checksum)
	o := ordered{object: object}
	if d, ok := object.(*Deprecations); ok {
		o.pkg = d.Package
	}
	return &spooled{id: o.name(), packed: buffer, stored: s}, nil
}

// partsOf makes raw payloads parts of the line that they are written in, one
// after the other. Which of several equal places is found does not matter.
func partsOf(s *stored, line []byte, payloads []Payload) {
	at := 0
	for i, p := range payloads {
		from := at + max(0, bytes.Index(line[at:], p.data.packed))
		at = from + p.data.size
		payloads[i].data = blob{object: s, from: from, size: p.data.size}
	}
}

// add takes what became of a job, which is nil if it has no object.
func (s *spool) add(number int, line *spooled) {
	s.early[number] = line
	for {
		line, ok := s.early[s.next]
		if !ok {
			return
		}
		delete(s.early, s.next)
		s.next++
		s.passed()
		if line != nil {
			line.stored.offset = s.offset
			if s.err == nil {
				_, s.err = s.to.Write(*line.packed)
			}
			s.offset += int64(line.stored.packed)
			packedLines.Put(line.packed)
			s.objects = append(s.objects, indexed{Object: line.id, source: line.stored})
		}
	}
}

// sorted are the objects in canonical order.
func (s *spool) sorted() []indexed {
	slices.SortStableFunc(s.objects, func(a, b indexed) int { return a.order().compare(b.order()) })
	return s.objects
}
