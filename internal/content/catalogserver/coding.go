package catalogserver

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
)

// contentType is that of JSON lines.
const contentType = "application/jsonl"

// formVersion is a part of every ETag. It is raised when the same content is written in other bytes than before.
const formVersion = "1"

// coded is an answer in the coding that the client has a use for: compressed, or as it is.
type coded struct {
	http.ResponseWriter
	gzip bool
	body bool         // an answer to HEAD has none
	zip  *gzip.Writer // set while a compressed answer is written
	err  error        // of compressing and sending
}

// choose chooses the coding of an answer and sets the headers that follow from it. what names the part of the catalog that is asked for.
// Parts of an answer are always sent uncompressed, as positions in a compressed one mean nothing to those who ask for them.
func choose(w http.ResponseWriter, r *http.Request, served Served, what string) *coded {
	c := &coded{
		ResponseWriter: w,
		gzip:           r.Header.Get("Range") == "" && acceptsGzip(r.Header.Values("Accept-Encoding")),
		body:           r.Method != http.MethodHead,
	}
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Add("Vary", "Accept-Encoding")
	coding := "identity"
	if c.gzip {
		coding = "gzip"
		h.Set("Content-Encoding", coding)
	}
	// The ETag is a strong validator: whatever changes the bytes of an answer changes it.
	sum := sha256.Sum256([]byte(strings.Join([]string{served.Index.Digest(), what, coding, formVersion}, "\x00")))
	h.Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	return c
}

// WriteHeader begins an answer. One that is none is not compressed.
func (c *coded) WriteHeader(code int) {
	switch {
	case code != http.StatusOK:
		c.Header().Del("Content-Encoding")
	case c.gzip && c.body:
		c.zip = zippers.Get().(*gzip.Writer)
		c.zip.Reset(c.ResponseWriter)
	}
	c.ResponseWriter.WriteHeader(code)
}

// Write writes a part of the answer.
func (c *coded) Write(p []byte) (int, error) {
	var w io.Writer = c.ResponseWriter
	if c.zip != nil {
		w = c.zip
	}
	n, err := w.Write(p)
	if err != nil {
		c.err = err
	}
	return n, err
}

// end finishes the answer, unless it could not be made to its end: then the error says why, errGone if it was the client's doing.
func (c *coded) end(err error) error {
	if c.zip != nil {
		if err == nil && c.err == nil {
			c.err = c.zip.Close()
		}
		zippers.Put(c.zip)
		c.zip = nil
	}
	if c.err != nil {
		return errGone
	}
	return err
}

// errGone says that the client takes no more of the answer.
var errGone = errors.New("the client is gone")

// zippers are kept because one is more than half a megabyte large.
var zippers = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // only a level that does not exist gives one
	}
	return w
}}

// unchanged answers a request whose conditions (If-None-Match and the others) make an answer needless or impossible, and tells whether it
// was one.
func (c *coded) unchanged(r *http.Request, modified time.Time) bool {
	probe := &probe{header: c.Header().Clone()}
	conditions := r.Clone(r.Context())
	conditions.Header.Del("Range")
	http.ServeContent(probe, conditions, "", modified, strings.NewReader(""))
	if probe.code == http.StatusOK {
		c.Header().Set("Last-Modified", modified.UTC().Format(http.TimeFormat))
		return false
	}
	clear(c.Header())
	for key, values := range probe.header {
		c.Header()[key] = values
	}
	c.WriteHeader(probe.code)
	return true
}

// probe finds out how http.ServeContent judges the conditions of a request.
type probe struct {
	header http.Header
	code   int
}

func (p *probe) Header() http.Header               { return p.header }
func (p *probe) WriteHeader(code int)              { p.code = code }
func (p *probe) Write(content []byte) (int, error) { return len(content), nil }

// acceptsGzip tells whether a client wants compressed answers, by the values of its Accept-Encoding headers.
func acceptsGzip(headers []string) bool {
	any := false
	for part := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		coding, params, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip", "x-gzip":
			return wanted(params)
		case "*":
			any = wanted(params)
		}
	}
	return any
}

// wanted tells whether the quality among parameters, 1 when there is none, is more than nothing.
func wanted(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		key, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(key), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err == nil && q > 0
		}
	}
	return true
}
