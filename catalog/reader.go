package catalog

import (
	"errors"
	"io"
	"slices"
)

// findEnds is where the line of each object ends in the Content.
func (x *Index) findEnds() ([]int64, error) {
	ends := make([]int64, len(x.objects))
	var end int64
	var line []byte
	for i, o := range x.objects {
		var size int
		if s, ok := o.source.(*stored); ok {
			size = s.size
		} else {
			var err error
			if line, err = x.line(o, line); err != nil {
				return nil, err
			}
			size = len(line)
		}
		end += int64(size) + 1
		ends[i] = end
	}
	return ends, nil
}

// Content is what Objects hands out for an empty filter as JSON lines, and its
// size. Little of it is in memory at any time. If an object cannot be read, or
// written, Read fails. Each caller gets a reader of its own.
func (x *Index) Content() (io.ReadSeeker, int64) {
	ends, err := x.ends()
	if err != nil || len(ends) == 0 {
		return &contentReader{err: err}, 0
	}
	size := ends[len(ends)-1]
	return &contentReader{index: x, ends: ends, size: size}, size
}

// contentReader reads the Content of an Index.
type contentReader struct {
	index *Index
	ends  []int64
	size  int64
	at    int64
	err   error // why nothing can be read

	line       []byte // that was read last, with its line break
	start, end int64  // where it stands
}

// Read fills p from as many lines as it takes.
func (r *contentReader) Read(p []byte) (n int, err error) {
	if r.err != nil {
		return 0, r.err
	}
	for n < len(p) && r.at < r.size {
		if r.at < r.start || r.at >= r.end {
			// Read the line at the current place.
			i, onLine := slices.BinarySearch(r.ends, r.at)
			if onLine {
				i++
			}
			line, err := r.index.line(r.index.objects[i], r.line)
			if err != nil {
				r.start, r.end = 0, 0
				return n, err
			}
			r.line, r.end = append(line, '\n'), r.ends[i]
			r.start = r.end - int64(len(r.line))
		}
		copied := copy(p[n:], r.line[r.at-r.start:])
		n += copied
		r.at += int64(copied)
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Seek moves to a place, which may be after the end.
func (r *contentReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	default:
		return r.at, errors.New("seek in the content of a catalog: whence is unknown")
	}
	if offset < 0 {
		return r.at, errors.New("seek in the content of a catalog: the place is before the beginning")
	}
	r.at = offset
	return offset, nil
}
