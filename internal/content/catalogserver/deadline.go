package catalogserver

import (
	"net/http"
	"time"
)

// A client of HTTP has to take so many bytes in so much time, again and again. A slow network can; one that only holds the connection open
// cannot.
const (
	progressBytes = 1 << 20
	progressTime  = time.Minute
)

// deadlineWriter closes the connection of a client that takes too little of its answer.
type deadlineWriter struct {
	http.ResponseWriter
	bytes int // since the deadline was set
	time  time.Duration
}

func newDeadlineWriter(w http.ResponseWriter) *deadlineWriter {
	d := &deadlineWriter{ResponseWriter: w, time: progressTime}
	d.extend()
	return d
}

// extend gives the client time for the next bytes. Writers without deadlines are those of tests.
func (d *deadlineWriter) extend() {
	d.bytes = 0
	_ = http.NewResponseController(d.ResponseWriter).SetWriteDeadline(time.Now().Add(d.time))
}

// Write writes a part of the answer.
func (d *deadlineWriter) Write(p []byte) (int, error) {
	if d.bytes >= progressBytes {
		d.extend()
	}
	n, err := d.ResponseWriter.Write(p)
	d.bytes += n
	return n, err
}
