package clusterextension

import (
	"errors"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
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
		if slices.Contains(reconcile.VerdictTypes, c.Type) {
			continue // what it follows from is counted
		}
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

// What holds an upgrade up, as metrics tell it: few words, which say whose turn it is. Where none of them fits, it is the reason of the
// condition Progressing.
const (
	heldByCatalogs    = "Unresolvable"
	heldByDefinitions = "CustomResourceDefinitions"
	heldByAccount     = "Permissions"
	heldByIncrease    = "MorePermissions"
	heldByOperator    = "NotUpgradeable"
	heldBySignature   = "Unverified"
)

// heldReasons are all of them.
var heldReasons = []string{heldByCatalogs, heldByDefinitions, heldByAccount, heldByIncrease, heldByOperator, heldBySignature,
	olmv1.ReasonBlocked, olmv1.ReasonInvalidConfiguration, olmv1.ReasonRetrying, olmv1.ReasonProgressDeadlineExceeded, olmv1.ReasonCrashLoopBackOff}

// heldUp is why an extension that has something installed does not get what it is to have; empty when it does, or may yet.
func heldUp(ext *olmv1.ClusterExtension, o *outcome) string {
	progressing := meta.FindStatusCondition(ext.Status.Conditions, olmv1.TypeProgressing)
	if ext.Status.Install == nil || progressing == nil || o.leaving {
		return ""
	}
	var stop *revision.Refusal
	switch {
	case errors.As(o.problem, new(*crd.UnsafeError)):
		return heldByDefinitions
	case errors.As(o.problem, new(*permissions.Lacking)):
		return heldByAccount
	case errors.As(o.problem, new(*revision.IncreaseError)):
		return heldByIncrease
	case errors.As(o.problem, new(*revision.NotUpgradeable)):
		return heldByOperator
	case image.IsUnverified(o.problem):
		return heldBySignature
	case errors.As(o.problem, &stop):
		return stop.Reason
	case o.conflict != nil:
		return heldByCatalogs
	case progressing.Reason == olmv1.ReasonSucceeded || progressing.Reason == olmv1.ReasonRollingOut:
		return ""
	}
	return progressing.Reason
}
