package packageserver

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"sync"

	"github.com/klauspost/compress/flate"
)

// An answer of megabytes takes longer to compress than everything else that is done for it. So the texts of packages are compressed once,
// when their catalog is read: a gzip stream may be put together from pieces that end on whole bytes, if the checksum of the whole can be
// had from those of the pieces. What is not prepared, which is little, goes into the stream as it is.

// compressAt is how large a list is before it is worth to be compressed, as for the API machinery.
const compressAt = 128 << 10

// firstWrite is what the API machinery gets to see first of a compressed list. It would hold back less than a kilobyte for later, and
// compress again what begins with more than compressAt.
const firstWrite = 32 << 10

const (
	// maxStored is what a block of a stream may hold that is not compressed.
	maxStored = 1<<16 - 1
	// polynomial is that of the checksum.
	polynomial = crc32.IEEE
)

var (
	gzipHead  = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}
	gzipEnd   = []byte{1, 0, 0, 0xff, 0xff} // the last block, which holds nothing
	deflators = sync.Pool{New: func() any {
		w, _ := flate.NewWriter(nil, flate.BestSpeed) // fails only for levels that there are not
		return w
	}}
)

// deflate compresses a piece of a stream.
func deflate(text []byte) []byte {
	var out bytes.Buffer
	w := deflators.Get().(*flate.Writer)
	defer deflators.Put(w)
	w.Reset(&out)
	_, _ = w.Write(text) // to memory
	_ = w.Flush()        // ends it on a whole byte
	return bytes.Clone(out.Bytes())
}

// stream is a gzip stream that is put together.
type stream struct {
	out   []byte
	check uint32
	size  uint32
}

// add appends text as it is.
func (s *stream) add(text []byte) {
	s.check = crc32.Update(s.check, crc32.IEEETable, text)
	s.size += uint32(len(text))
	for len(text) > 0 {
		block := text[:min(len(text), maxStored)]
		text = text[len(block):]
		s.out = append(s.out, 0)
		s.out = binary.LittleEndian.AppendUint16(s.out, uint16(len(block)))
		s.out = binary.LittleEndian.AppendUint16(s.out, ^uint16(len(block)))
		s.out = append(s.out, block...)
	}
}

// addDeflated appends a piece that is compressed already, given the checksum and the size of its text.
func (s *stream) addDeflated(piece []byte, check uint32, size int) {
	// X to the power of so many bytes: by that a checksum is multiplied when so many bytes follow.
	result, square := uint32(1)<<31, uint32(1)<<23 // x to the power of 0 and of 8
	for bytes := size; bytes > 0; bytes >>= 1 {
		if bytes&1 != 0 {
			result = multiply(square, result)
		}
		square = multiply(square, square)
	}
	s.check = multiply(result, s.check) ^ check
	s.size += uint32(size)
	s.out = append(s.out, piece...)
}

// end completes the stream.
func (s *stream) end() {
	s.out = append(s.out, gzipEnd...)
	s.out = binary.LittleEndian.AppendUint32(s.out, s.check)
	s.out = binary.LittleEndian.AppendUint32(s.out, s.size)
}

// multiply multiplies polynomials over the two numbers 0 and 1, modulo that of the checksum. The highest bit is that of x to the power 0.
func multiply(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a&(1<<31) != 0 {
			product ^= b
		}
		if b&1 != 0 {
			b = b>>1 ^ polynomial
		} else {
			b >>= 1
		}
	}
	return product
}

// answer is where a list is written to for a client that understands gzip.
type answer struct {
	http.ResponseWriter
	// compressed says that what is written is a gzip stream.
	compressed bool
}

// WriteHeader says in what form the list comes.
func (a *answer) WriteHeader(code int) {
	if a.compressed {
		a.Header().Set("Content-Encoding", "gzip")
		a.Header().Add("Vary", "Accept-Encoding")
	}
	a.ResponseWriter.WriteHeader(code)
}

// Unwrap lets what is behind it be found.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

type answerKey struct{}
