package clusterextension

import (
	"errors"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/metrics"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Metrics count ClusterExtensions: docs/clusterextensions.md lists them. The zero value counts nothing.
type Metrics struct {
	info       *prometheus.GaugeVec
	conditions *prometheus.GaugeVec
	held       *metrics.Tally
}

// NewMetrics makes the metrics, unregistered.
func NewMetrics() *Metrics {
	return &Metrics{
		info: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "fairlead_clusterextension_info",
			Help: "1 for each ClusterExtension that has a bundle installed."}, []string{"name", "package", "bundle", "version"}),
		conditions: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "fairlead_clusterextension_condition",
			Help: "1 where a condition of a ClusterExtension is True, 0 where it is False, -1 where it is Unknown."}, []string{"name", "type", "reason"}),
		held: metrics.NewTally("fairlead_clusterextensions_held_up", "Number of ClusterExtensions that have something installed and do not get what they are to have, by what is in the way.",
			"reason", heldReasons...),
	}
}

// Register registers the metrics, or returns those that are registered already, as by another manager of the same process.
func (m *Metrics) Register(r prometheus.Registerer) (*Metrics, error) {
	var err error
	if m.info, err = register(r, m.info); err != nil {
		return nil, err
	}
	if m.conditions, err = register(r, m.conditions); err != nil {
		return nil, err
	}
	return m, m.held.Register(r)
}

func register(r prometheus.Registerer, v *prometheus.GaugeVec) (*prometheus.GaugeVec, error) {
	err := r.Register(v)
	var known prometheus.AlreadyRegisteredError
	if errors.As(err, &known) {
		return known.ExistingCollector.(*prometheus.GaugeVec), nil
	}
	return v, err
}

// observe counts an extension as it stands now.
func (m *Metrics) observe(ext *olmv1.ClusterExtension, o *outcome) {
	if m == nil {
		return
	}
	m.forget(ext.Name)
	m.held.Set(ext.Name, heldUp(ext, o))
	if i := ext.Status.Install; i != nil && ext.Spec.Source.Catalog != nil {
		m.info.WithLabelValues(ext.Name, ext.Spec.Source.Catalog.PackageName, i.Bundle.Name, i.Bundle.Version).Set(1)
	}
	for _, c := range ext.Status.Conditions {
		value := map[metav1.ConditionStatus]float64{metav1.ConditionTrue: 1, metav1.ConditionFalse: 0, metav1.ConditionUnknown: -1}[c.Status]
		m.conditions.WithLabelValues(ext.Name, c.Type, c.Reason).Set(value)
	}
}

// forget drops what was counted of an extension.
func (m *Metrics) forget(name string) {
	if m == nil {
		return
	}
	m.held.Set(name, "")
	m.info.DeletePartialMatch(prometheus.Labels{"name": name})
	m.conditions.DeletePartialMatch(prometheus.Labels{"name": name})
}
