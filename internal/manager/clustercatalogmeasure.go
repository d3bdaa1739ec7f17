package manager

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// measured observes how long answers take. It is said also of those that are broken off.
func measured(requests *prometheus.HistogramVec, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun, answer := time.Now(), &answered{ResponseWriter: w, code: http.StatusOK}
		defer func() { requests.WithLabelValues(strconv.Itoa(answer.code)).Observe(time.Since(begun).Seconds()) }()
		next.ServeHTTP(answer, r)
	})
}

// answered remembers the status code of an answer.
type answered struct {
	http.ResponseWriter
	code int
}

// WriteHeader begins the answer.
func (a *answered) WriteHeader(code int) {
	a.code = code
	a.ResponseWriter.WriteHeader(code)
}

// Unwrap lets deadlines be set, without which a large answer would be broken off.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }
