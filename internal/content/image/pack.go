package image

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// A pack is one file that holds what was kept of one image: the contents of
// the files one after the other, the names of the files that were not kept,
// an index, and a trailer. No name that came from an image becomes the name of
// a file, and one rename makes a pack appear complete or not at all.
//
// The trailer has three big-endian numbers: the offset of the names, the offset
// of the index, and a CRC-32C of everything before the trailer, which tells a
// pack that a crash of the machine has torn. A magic string ends it.
const (
	packMagic   = "fairlead-pack-1\n"
	trailerSize = 8 + 8 + 4 + len(packMagic)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// packIndex describes the image and its kept files.
type packIndex struct {
	Digest string            `json:"digest"`
	Labels map[string]string `json:"labels"`
	Files  map[string]extent `json:"files"`
}

// packWriter writes a pack.
type packWriter struct {
	out     *bufio.Writer
	written int64
	sum     uint32
	skipped *bufio.Writer // names of files that are not kept
	names   *os.File      // behind skipped
}

// newPackWriter writes to out; names is scratch space.
func newPackWriter(out io.Writer, names *os.File) *packWriter {
	return &packWriter{out: bufio.NewWriterSize(out, 256<<10), names: names, skipped: bufio.NewWriter(names)}
}

// Write implements io.Writer.
func (p *packWriter) Write(data []byte) (int, error) {
	n, err := p.out.Write(data)
	p.written += int64(n)
	p.sum = crc32.Update(p.sum, castagnoli, data[:n])
	return n, storeFailure(err)
}

// add appends the content of one file of the given size.
func (p *packWriter) add(r io.Reader, size int64) (extent, error) {
	start := p.written
	_, err := io.CopyN(p, r, size)
	return extent{Offset: start, Size: size}, err
}

// skip notes the name of a file that is not kept.
func (p *packWriter) skip(name string) error {
	if _, err := p.skipped.Write(binary.AppendUvarint(nil, uint64(len(name)))); err != nil {
		return storeFailure(err)
	}
	_, err := p.skipped.WriteString(name)
	return storeFailure(err)
}

// finish writes the names, the index and the trailer.
func (p *packWriter) finish(index packIndex) error {
	namesAt := p.written
	if err := p.skipped.Flush(); err != nil {
		return err
	}
	if _, err := p.names.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.Copy(p, p.names); err != nil {
		return err
	}
	indexAt := p.written
	if err := json.NewEncoder(p).Encode(index); err != nil {
		return err
	}
	trailer := binary.BigEndian.AppendUint64(nil, uint64(namesAt))
	trailer = binary.BigEndian.AppendUint64(trailer, uint64(indexAt))
	trailer = binary.BigEndian.AppendUint32(trailer, p.sum)
	if _, err := p.out.WriteString(string(trailer) + packMagic); err != nil {
		return err
	}
	return p.out.Flush()
}

// pack is an open, checked pack. It stays readable after its file is removed.
type pack struct {
	file    *os.File
	index   packIndex
	namesAt int64
	indexAt int64
}

// errTorn means that a pack is not what was once written.
var errTorn = errors.New("the stored image is damaged")

// openPack reads and checks a pack, and owns file from then on.
func openPack(file *os.File) (_ *pack, err error) {
	defer func() {
		if err != nil {
			_ = file.Close()
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	end := info.Size() - int64(trailerSize)
	if end < 0 {
		return nil, errTorn
	}
	trailer := make([]byte, trailerSize)
	if _, err := file.ReadAt(trailer, end); err != nil {
		return nil, err
	}
	p := &pack{
		file:    file,
		namesAt: int64(binary.BigEndian.Uint64(trailer)),
		indexAt: int64(binary.BigEndian.Uint64(trailer[8:])),
	}
	if string(trailer[20:]) != packMagic || p.namesAt < 0 || p.namesAt > p.indexAt || p.indexAt > end {
		return nil, errTorn
	}
	sum := crc32.New(castagnoli)
	if _, err := io.CopyBuffer(sum, io.NewSectionReader(file, 0, end), make([]byte, 256<<10)); err != nil {
		return nil, err
	}
	if sum.Sum32() != binary.BigEndian.Uint32(trailer[16:]) {
		return nil, errTorn
	}
	index := io.NewSectionReader(file, p.indexAt, end-p.indexAt)
	if err := json.NewDecoder(index).Decode(&p.index); err != nil {
		return nil, fmt.Errorf("%w: %w", errTorn, err)
	}
	return p, nil
}

// lacks tells whether the image has a file that is wanted and was not kept.
func (p *pack) lacks(wanted func(path string) bool) (bool, error) {
	names := bufio.NewReader(io.NewSectionReader(p.file, p.namesAt, p.indexAt-p.namesAt))
	var name []byte
	for {
		size, err := binary.ReadUvarint(names)
		if err == io.EOF {
			return false, nil
		}
		if err != nil || size > uint64(p.indexAt-p.namesAt) {
			return false, errTorn
		}
		name = append(name[:0], make([]byte, size)...)
		if _, err := io.ReadFull(names, name); err != nil {
			return false, errTorn
		}
		if wanted(string(name)) {
			return true, nil
		}
	}
}
