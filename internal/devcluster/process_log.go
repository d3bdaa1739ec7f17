package devcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"fairlead.dev/fairlead/catalog/safetext"
)

const (
	excerptLines = 12
	excerptBytes = 16 << 10
	maxLine      = 400

	followInterval = 200 * time.Millisecond
	blockSize      = 64 << 10
)

// writeLog copies the last lines of a log, or all of it when lines is negative, and when told to follow continues until the
// context ends, also when the log is begun again.
func writeLog(ctx context.Context, w io.Writer, path string, lines int, follow bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { file.Close() }()
	if err := seekLines(file, lines); err != nil {
		return err
	}
	for {
		if _, err := io.Copy(w, file); err != nil || !follow {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followInterval):
		}
		if file, err = reopenIfReplaced(file, path); err != nil {
			return err
		}
	}
}

func reopenIfReplaced(file *os.File, path string) (*os.File, error) {
	current, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return file, nil
	}
	if err != nil {
		return file, err
	}
	opened, err := file.Stat()
	if err != nil || os.SameFile(current, opened) {
		return file, err
	}
	next, err := os.Open(path)
	if err != nil {
		return file, err
	}
	file.Close()
	return next, nil
}

// seekLines moves to the beginning of the last so many lines.
func seekLines(file *os.File, lines int) error {
	if lines < 0 {
		return nil
	}
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil || lines == 0 {
		return err
	}
	at, err := startOfLines(file, end, lines)
	if err != nil {
		return err
	}
	_, err = file.Seek(at, io.SeekStart)
	return err
}

// startOfLines reads backwards, block by block. An unfinished last line counts as one.
func startOfLines(file io.ReaderAt, end int64, lines int) (int64, error) {
	block := make([]byte, blockSize)
	for at := end; at > 0; {
		from := max(0, at-blockSize)
		part := block[:at-from]
		if _, err := file.ReadAt(part, from); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		for i := len(part) - 1; i >= 0; i-- {
			if part[i] != '\n' || from+int64(i) == end-1 {
				continue
			}
			if lines--; lines <= 0 {
				return from + int64(i) + 1, nil
			}
		}
		at = from
	}
	return 0, nil
}

// excerpt is the last lines of a log as part of an error message.
func excerpt(path string) string {
	content, err := lastBytes(path)
	if err != nil {
		return fmt.Sprintf("its log cannot be read: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(content), "\n")
	if content == "" {
		return fmt.Sprintf("its log %s is empty", path)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "last lines of %s:", path)
	for _, line := range lines[max(0, len(lines)-excerptLines):] {
		text.WriteString("\n    " + safetext.Truncate(line, maxLine))
	}
	return text.String()
}

// lastBytes is the end of a file from the beginning of a line.
func lastBytes(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	from := max(0, info.Size()-excerptBytes)
	content, err := io.ReadAll(io.NewSectionReader(file, from, excerptBytes))
	if from > 0 {
		_, content, _ = bytes.Cut(content, []byte("\n"))
	}
	return string(content), err
}
