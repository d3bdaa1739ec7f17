package packageserver

import "io"

// flushAt is how much is collected before it is written. The API machinery compresses only what begins with a large write.
const flushAt = 256 << 10

// form writes a list: as it is, or as a gzip stream.
type form struct {
	w io.Writer
	// first is how much is written at first, everything when zero.
	first  int
	zipped bool
	// stream has what is collected, compressed or not.
	stream stream
	tail   []byte
}

func (f *form) literal(text []byte) error {
	if f.zipped {
		f.stream.add(text)
	} else {
		f.stream.out = append(f.stream.out, text...)
	}
	return f.flush(false)
}

func (f *form) document(o *offer) (err error) {
	if !f.zipped {
		if f.tail, err = o.tail(f.tail); err != nil {
			return err
		}
		return f.literal(f.tail)
	}
	text, err := o.text()
	if err != nil {
		return err
	}
	f.stream.addDeflated(text.deflated, o.doc.check, o.doc.size)
	return f.flush(false)
}

// flush passes on what was collected, when it is enough or the last.
func (f *form) flush(last bool) error {
	if last && f.zipped {
		f.stream.end()
	}
	collected := f.stream.out
	if len(collected) < flushAt && !last {
		return nil
	}
	if f.first > 0 && len(collected) > f.first {
		if _, err := f.w.Write(collected[:f.first]); err != nil {
			return err
		}
		collected = collected[f.first:]
	}
	f.first, f.stream.out = 0, f.stream.out[:0]
	_, err := f.w.Write(collected)
	return err
}
