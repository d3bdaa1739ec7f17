package catalog

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// blob holds bytes that are seldom read: packed in memory, or as a part of
// an object whose line is stored in a file.
type blob struct {
	packed []byte
	size   int     // unpacked; equal to len(packed) if packing did not help
	object *stored // if the bytes are a part of its line,
	from   int     // which begins here and is size long
}

// encoders take a megabyte each, which is free when nothing has been packed for
// a while: a catalog is read once and then served for days.
var encoders = sync.Pool{New: func() any {
	return rightly(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(256<<10), zstd.WithEncoderCRC(false)))
}}

// unpacks is shared, and safe for concurrent use. Nothing is ever unpacked to
// more than the capacity that was made for it.
var unpacks = sync.OnceValue(func() *zstd.Decoder {
	return rightly(zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true)))
})

// rightly is a compressor, which is always made with the same options.
func rightly[C any](c C, err error) C {
	if err != nil {
		panic(fmt.Sprintf("catalog: the options of the compressor are wrong: %v", err))
	}
	return c
}

// pack keeps a copy of data.
func pack(data []byte) blob {
	return blob{packed: bytes.Clone(packTo(make([]byte, 0, len(data)/4+64), data)), size: len(data)}
}

// packTo packs data into dst, or returns data itself if that did not help.
func packTo(dst, data []byte) []byte {
	encoder := encoders.Get().(*zstd.Encoder)
	defer encoders.Put(encoder)
	if packed := encoder.EncodeAll(data, dst[:0]); len(packed) < len(data) {
		return packed
	}
	return data
}

// unpackTo returns what was packed, which has the given size, in dst if that is
// large enough. The result is always a copy.
func unpackTo(dst, packed []byte, size int) ([]byte, error) {
	if cap(dst) < size {
		dst = make([]byte, 0, size+1) // with room for a line break
	}
	if size == len(packed) {
		return append(dst[:0], packed...), nil
	}
	data, err := unpacks().DecodeAll(packed, dst[:0])
	if err == nil && len(data) != size {
		err = fmt.Errorf("there are %d bytes instead of %d", len(data), size)
	}
	return data, err
}

// unpacker unpacks blobs one after the other, and remembers the last line it
// read, which often holds the next one as well. Its zero value is ready for
// use, by one goroutine.
type unpacker struct {
	object *stored
	line   []byte
}

func (u *unpacker) unpack(b blob) ([]byte, error) {
	if b.object != nil {
		if b.object != u.object {
			line, err := b.object.line(nil)
			if err != nil {
				return nil, err
			}
			u.object, u.line = b.object, line
		}
		end := b.from + b.size
		return u.line[b.from:end:end], nil
	}
	data, err := unpackTo(nil, b.packed, b.size)
	if err != nil {
		return nil, fmt.Errorf("unpack a property: %w", err)
	}
	return data, nil
}
