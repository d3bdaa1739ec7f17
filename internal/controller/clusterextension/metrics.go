package clusterextension

import (
	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/metrics"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics count ClusterExtensions: docs/clusterextensions.md lists them. The zero value counts nothing.
type Metrics struct {
	info       *prometheus.GaugeVec
	conditions *metrics.Conditions
	held       *metrics.Tally
}

// NewMetrics makes the metrics, unregistered.
func NewMetrics() *Metrics {
	return &Metrics{
		info: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "fairlead_clusterextension_info",
			Help: "1 for each ClusterExtension that has a bundle installed."}, []string{"name", "package", "bundle", "version"}),
		conditions: metrics.NewConditions(olmv1.ClusterExtensionKind),
		held: metrics.NewTally("fairlead_clusterextensions_held_up", "Number of ClusterExtensions that have something installed and do not get the content that their spec requests, by cause.",
			"reason", heldReasons...),
	}
}

// Register registers the metrics, or returns those that are registered already, as by another manager of the same process.
func (m *Metrics) Register(r prometheus.Registerer) (*Metrics, error) {
	var err error
	if m.info, err = metrics.Register(r, m.info); err != nil {
		return nil, err
	}
	if m.conditions, err = metrics.Register(r, m.conditions); err != nil {
		return nil, err
	}
	return m, m.held.Register(r)
}

// observe counts an extension as it stands now.
func (m *Metrics) observe(ext *olmv1.ClusterExtension, o *outcome) {
	if m == nil {
		return
	}
	m.held.Set(ext.Name, heldUp(ext, o))
	m.info.DeletePartialMatch(prometheus.Labels{"name": ext.Name})
	if i := ext.Status.Install; i != nil && ext.Spec.Source.Catalog != nil {
		m.info.WithLabelValues(ext.Name, ext.Spec.Source.Catalog.PackageName, i.Bundle.Name, i.Bundle.Version).Set(1)
	}
	var conditions []metrics.Condition
	for _, c := range ext.Status.Conditions {
		conditions = append(conditions, metrics.Condition{Type: c.Type, Status: string(c.Status), Reason: c.Reason})
	}
	m.conditions.Seen(ext.Name, conditions...)
}

// forget drops what was counted of an extension.
func (m *Metrics) forget(name string) {
	if m == nil {
		return
	}
	m.held.Set(name, "")
	m.info.DeletePartialMatch(prometheus.Labels{"name": name})
	m.conditions.Gone(name)
}
