package packageserver

import "io"

// flushAt is how much is collected before it is written. The API machinery compresses only what begins with a large write.
const flushAt = 256 << 10

// output collects what is written.
type output struct {
	w io.Writer
	// first is how much is written at first, everything when zero.
	first int
}

// write passes on what was collected, when it is enough or the last, and returns the buffer for what follows.
func (o *output) write(collected []byte, last bool) ([]byte, error) {
	if len(collected) < flushAt && !last {
		return collected, nil
	}
	if o.first > 0 && len(collected) > o.first {
		if _, err := o.w.Write(collected[:o.first]); err != nil {
			return nil, err
		}
		if _, err := o.w.Write(collected[o.first:]); err != nil {
			return nil, err
		}
	} else if _, err := o.w.Write(collected); err != nil {
		return nil, err
	}
	o.first = 0
	return collected[:0], nil
}

// plain writes a list as it is.
type plain struct {
	out       output
	collected []byte
	tail      []byte
}

func (p *plain) literal(text []byte) (err error) {
	p.collected, err = p.out.write(append(p.collected, text...), false)
	return err
}

func (p *plain) document(o *offer) (err error) {
	if p.tail, err = o.tail(p.tail); err != nil {
		return err
	}
	return p.literal(p.tail)
}

func (p *plain) end() (err error) {
	p.collected, err = p.out.write(p.collected, true)
	return err
}

// zipped writes a list as a gzip stream.
type zipped struct {
	out    output
	stream stream
}

func (z *zipped) literal(text []byte) (err error) {
	z.stream.add(text)
	z.stream.out, err = z.out.write(z.stream.out, false)
	return err
}

func (z *zipped) document(o *offer) error {
	text, err := o.text()
	if err != nil {
		return err
	}
	z.stream.addDeflated(text.deflated, o.doc.check, o.doc.size)
	z.stream.out, err = z.out.write(z.stream.out, false)
	return err
}

func (z *zipped) end() (err error) {
	z.stream.end()
	z.stream.out, err = z.out.write(z.stream.out, true)
	return err
}
