package metrics

import "github.com/prometheus/client_golang/prometheus"

// NewCatalogRequests returns the histogram of how long answers of the HTTP API of catalogs take, by their status code. Name, label and
// buckets are those that dashboards know.
func NewCatalogRequests() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "catalogd_http_request_duration_seconds",
		Help:    "Time that answers of the HTTP API of ClusterCatalogs take, in seconds",
		Buckets: []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.6, 2, 2.4, 2.8, 3.2, 3.6, 4, 10},
	}, []string{"code"})
}
