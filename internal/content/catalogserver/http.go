package catalogserver

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/catalog"
)

// What one client may ask of an HTTP server. Answers may take as long as they make progress, see deadlineWriter.
const (
	readHeaderTime = 5 * time.Second
	readTime       = 10 * time.Second
	idleTime       = 2 * time.Minute
)

// httpServer answers over HTTP.
type httpServer struct {
	router
	log *slog.Logger
}

// NewHTTP is a server of the contents of catalogs as JSON lines. It listens nowhere yet.
func NewHTTP(source Source, health *Health, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           Handler(source, health, log),
		ReadHeaderTimeout: readHeaderTime,
		ReadTimeout:       readTime,
		WriteTimeout:      progressTime, // of answers without a deadlineWriter
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// Handler answers
//
//	/catalogs/NAME/api/v1/all                            the whole catalog
//	/catalogs/NAME/api/v1/metas?schema=&package=&name=   the objects whose fields have these values
//
// and, when there is one catalog only, both without /catalogs/NAME. A field that an object does not have is empty: package=x finds the
// channels, bundles and deprecations of x, not the olm.package object itself, which schema=olm.package&name=x finds.
func Handler(source Source, health *Health, log *slog.Logger) http.Handler {
	s := &httpServer{router{source, health}, log}
	mux := http.NewServeMux()
	for _, prefix := range []string{"", "/catalogs/{name}"} {
		mux.HandleFunc("GET "+prefix+"/api/v1/all", s.serve(s.all))
		mux.HandleFunc("GET "+prefix+"/api/v1/metas", s.serve(s.metas))
	}
	return mux
}

// subdomain is what a name of a catalog must look like.
var subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// ValidName tells whether a catalog can be served under a name: it must be a DNS subdomain.
func ValidName(name string) bool { return len(name) <= 253 && subdomain.MatchString(name) }

// serve finds the catalog and lets answer answer. What is wrong with the answer after its first byte can only be told by not finishing it.
func (s *httpServer) serve(answer func(http.ResponseWriter, *http.Request, Served) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		if name != "" && !ValidName(name) {
			http.Error(w, "the name of a catalog is made of small letters, digits, dashes and dots, with a letter or digit at both ends of each part; this one is not",
				http.StatusBadRequest)
			return
		}
		served, ok := s.source.Catalog(name)
		if !ok {
			switch {
			case !s.health.Serving():
				w.Header().Set("Retry-After", "1")
				http.Error(w, notReady, http.StatusServiceUnavailable)
			case name == "":
				http.Error(w, "there is not exactly one catalog here: name one, as in /catalogs/NAME/api/v1/all", http.StatusNotFound)
			default:
				http.Error(w, "no such catalog is served here", http.StatusNotFound)
			}
			return
		}
		d := &deadlineWriter{ResponseWriter: w, time: progressTime}
		d.extend()
		err := answer(d, r, served)
		if err == nil {
			return
		}
		if !errors.Is(err, errGone) {
			s.log.Error("an answer was broken off", "path", r.URL.Path, "error", err)
		}
		panic(http.ErrAbortHandler)
	}
}

// all answers with the whole catalog.
func (s *httpServer) all(w http.ResponseWriter, r *http.Request, served Served) error {
	content, _ := served.Index.Content()
	c := choose(w, r, served, "all")
	source := &errorReader{ReadSeeker: content}
	http.ServeContent(c, r, "", served.Modified, source)
	return c.end(source.err)
}

// errorReader remembers why reading failed, which http.ServeContent does not tell.
type errorReader struct {
	io.ReadSeeker
	err error
}

func (r *errorReader) Read(p []byte) (int, error) {
	n, err := r.ReadSeeker.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// metas answers with the objects of a query.
func (s *httpServer) metas(w http.ResponseWriter, r *http.Request, served Served) error {
	filter, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil
	}
	if filter == (catalog.ObjectFilter{}) {
		return s.all(w, r, served)
	}
	c := choose(w, r, served, fmt.Sprintf("%q %q %q", filter.Schema, filter.Package, filter.Name))
	if c.unchanged(r, served.Modified) {
		return nil
	}
	c.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	for object, err := range served.Index.Objects(filter) { // as JSON lines, one at a time
		if err == nil {
			_, err = c.Write(object)
		}
		if err == nil {
			_, err = c.Write([]byte("\n"))
		}
		if err != nil {
			return c.end(err)
		}
	}
	return c.end(nil)
}

// The parameters of a query for objects.
const (
	paramSchema  = "schema"
	paramPackage = "package"
	paramName    = "name"
)

// parseQuery reads the parameters of a query. Of a parameter that is given more than once the first value counts.
func parseQuery(raw string) (catalog.ObjectFilter, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return catalog.ObjectFilter{}, fmt.Errorf("the query cannot be read: %w", err)
	}
	var unknown []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if key != paramSchema && key != paramPackage && key != paramName {
			unknown = append(unknown, fmt.Sprintf("%q", key))
		}
	}
	if len(unknown) > 0 {
		return catalog.ObjectFilter{}, fmt.Errorf("unknown parameters %s: use %s, %s and %s",
			strings.Join(unknown, ", "), paramSchema, paramPackage, paramName)
	}
	return catalog.ObjectFilter{Schema: values.Get(paramSchema), Package: values.Get(paramPackage), Name: values.Get(paramName)}, nil
}
