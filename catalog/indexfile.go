package catalog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
	"sync"

	"fairlead.dev/fairlead/catalog/internal/compact"
)

// An index file holds, one after the other:
//
//	header    of fixed size: what the file is, the size and checksum of each
//	          section, the size of the file, and a checksum of all that
//	lines     of all objects, as JSON, each packed for itself with zstd, or
//	          as it is if that is shorter; where each begins, its size and its
//	          checksum stand in the body
//	sections  five, as package compact makes them: sizes of texts, texts, sizes
//	          of values, values, and the body: the digest, the problems, the
//	          packages with their bundles and channels, and the directory of
//	          objects in canonical order
//
// Numbers in the header are little-endian. The lines are read one at a time,
// when they are asked for; everything else is read by Open. No byte of the file
// is without a checksum, and no size in it is believed before it was held
// against that of the file.

// ErrStale is the error of an index file that another version of the program
// wrote: it has to be built again.
var ErrStale = errors.New("the index file is of another version; build it again")

const (
	magic = "fairlead catalog index\n\x00"
	// formatVersion counts up when what is stored changes its form or meaning.
	formatVersion = 4
	sectionCount  = 5
	headerSize    = len(magic) + 4 + 8 + sectionCount*(8+4) + 4
	// maxLine bounds the line of one object.
	maxLine = 1 << 30
)

// header is the beginning of an index file.
type header struct {
	size     int64 // of the file
	sections [sectionCount]section
}

type section struct {
	size int64
	sum  uint32
}

// bytes are the header as it is written.
func (h *header) bytes() []byte {
	out := append(make([]byte, 0, headerSize), magic...)
	out = binary.LittleEndian.AppendUint32(out, formatVersion)
	out = binary.LittleEndian.AppendUint64(out, uint64(h.size))
	for _, s := range h.sections {
		out = binary.LittleEndian.AppendUint64(out, uint64(s.size))
		out = binary.LittleEndian.AppendUint32(out, s.sum)
	}
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, checksum))
}

// parse reads a header and holds it against the size of the file.
func (h *header) parse(data []byte, fileSize int64) error {
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return fmt.Errorf("it does not begin like an index file: %w", ErrCorrupt)
	}
	rest := data[len(magic):]
	if version := binary.LittleEndian.Uint32(rest); version != formatVersion {
		return fmt.Errorf("it has version %d, not %d: %w", version, formatVersion, ErrStale)
	}
	guarded := headerSize - 4
	if crc32.Checksum(data[:guarded], checksum) != binary.LittleEndian.Uint32(data[guarded:]) {
		return fmt.Errorf("the checksum of its header is wrong: %w", ErrCorrupt)
	}
	h.size = int64(binary.LittleEndian.Uint64(rest[4:]))
	if h.size != fileSize {
		return fmt.Errorf("it has %d bytes instead of %d: %w", fileSize, h.size, ErrCorrupt)
	}
	rest, left := rest[12:], fileSize-int64(headerSize)
	for i := range h.sections {
		s := section{int64(binary.LittleEndian.Uint64(rest)), binary.LittleEndian.Uint32(rest[8:])}
		if s.size < 0 || s.size > left {
			return fmt.Errorf("its section %d is larger than the file: %w", i, ErrCorrupt)
		}
		h.sections[i], rest, left = s, rest[12:], left-s.size
	}
	return nil
}

// linesEnd is where the lines end and the sections begin.
func (h *header) linesEnd() int64 {
	end := h.size
	for _, s := range h.sections {
		end -= s.size
	}
	return end
}

// Open opens an index file that Build has written. The error is ErrStale when
// another version of the program wrote it and ErrCorrupt when it is damaged;
// what Open does not read is checked when it is asked for, and by Verify.
func Open(path string) (*Index, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open catalog index: %w", err)
	}
	return openFile(file, path)
}

// openFile is Open for a file that is open; it closes the file if that fails.
func openFile(file *os.File, path string) (*Index, error) {
	info, err := file.Stat()
	var x *Index
	if err == nil {
		x, err = readIndex(file, info.Size())
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("open catalog index %s: %w", path, err)
	}
	x.file = file
	return x, nil
}

func readIndex(file io.ReaderAt, size int64) (*Index, error) {
	var h header
	start := make([]byte, headerSize)
	n, err := file.ReadAt(start, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if err := h.parse(start[:n], size); err != nil {
		return nil, err
	}
	d, err := h.decoder(file)
	if err != nil {
		return nil, err
	}
	x, err := decodeIndex(d, file, h.linesEnd())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrCorrupt)
	}
	return x, nil
}

// decoder reads the sections.
func (h *header) decoder(file io.ReaderAt) (*compact.Decoder, error) {
	var parts [sectionCount][]byte
	var texts strings.Builder
	at := h.linesEnd()
	for i, s := range h.sections {
		sum := crc32.New(checksum)
		in := io.TeeReader(io.NewSectionReader(file, at, s.size), sum)
		var err error
		if i == 1 {
			texts.Grow(int(s.size))
			_, err = io.Copy(&texts, in)
		} else {
			parts[i] = make([]byte, s.size)
			_, err = io.ReadFull(in, parts[i])
		}
		if err != nil {
			return nil, fmt.Errorf("read section %d: %w", i, err)
		}
		if sum.Sum32() != s.sum {
			return nil, fmt.Errorf("the checksum of section %d is wrong: %w", i, ErrCorrupt)
		}
		at += s.size
	}
	d, err := compact.NewDecoder(parts[0], texts.String(), parts[2], parts[3], parts[4])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrCorrupt)
	}
	return d, nil
}

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

// Verify reads every object and checks it against its checksum. It is for who
// wants to know about damage before a user asks for what is damaged: Open
// reads only a small part of an index file.
func (x *Index) Verify(ctx context.Context) error {
	var line []byte
	for _, o := range x.objects {
		var err error
		if line, err = x.line(o, line); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("verify the index of catalog %s: stopped before the end: %w", x.digest, context.Cause(ctx))
		}
	}
	return nil
}
