package catalog

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
)

// ErrCorrupt is the error of an index file that is damaged: it has to be
// built again.
var ErrCorrupt = errors.New("the index file is damaged; remove it and build it again")

// stored is the line of an object in a file.
type stored struct {
	file   io.ReaderAt
	offset int64
	packed int // bytes in the file
	size   int // of the line; equal to packed if packing did not help
	sum    uint32
}

// checksum guards every part of an index file.
var checksum = crc32.MakeTable(crc32.Castagnoli)

// packedLines are reused for what is read from files.
var packedLines = sync.Pool{New: func() any { return new([]byte) }}

// line reads the object as JSON without a line break, into into if that is
// large enough.
func (s *stored) line(into []byte) ([]byte, error) {
	buffer := packedLines.Get().(*[]byte)
	defer packedLines.Put(buffer)
	if cap(*buffer) < s.packed {
		*buffer = make([]byte, s.packed)
	}
	packed := (*buffer)[:s.packed]
	if n, err := s.file.ReadAt(packed, s.offset); n < len(packed) {
		return nil, fmt.Errorf("read %d bytes at %d: %w", len(packed), s.offset, err)
	}
	if sum := crc32.Checksum(packed, checksum); sum != s.sum {
		return nil, fmt.Errorf("the checksum of %d bytes at %d is %08x instead of %08x: %w", len(packed), s.offset, sum, s.sum, ErrCorrupt)
	}
	line, err := unpackTo(into, packed, s.size)
	if err != nil {
		return nil, fmt.Errorf("unpack %d bytes at %d: %w: %w", len(packed), s.offset, err, ErrCorrupt)
	}
	return line, nil
}
