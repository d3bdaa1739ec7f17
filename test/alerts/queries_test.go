package alerts

import (
	"fmt"
	"slices"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"fairlead.dev/fairlead/test/must"
)

// exported are the labels of metrics, by their names.
type exported map[string][]string

// ofTarget are the labels that Prometheus adds to what it reads of a pod that a ServiceMonitor selects.
var ofTarget = []string{"namespace", "pod", "job", "instance", "service", "endpoint", "container"}

// unknown says which metrics and labels of a query are not exported.
func (e exported) unknown(expression string) []string {
	parsed, err := parser.ParseExpr(expression)
	if err != nil {
		return []string{err.Error()}
	}
	var wrong []string
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			names := e.selected(n)
			if len(names) == 0 {
				wrong = append(wrong, fmt.Sprintf("no metric %s is exported", n))
			}
			for _, m := range n.LabelMatchers {
				wrong = append(wrong, e.missing(names, m.Name)...)
			}
		case *parser.AggregateExpr:
			wrong = append(wrong, e.missing(e.within(n.Expr), n.Grouping...)...)
		case *parser.BinaryExpr:
			if n.VectorMatching != nil && len(n.VectorMatching.MatchingLabels) > 0 {
				wrong = append(wrong, e.missing(e.within(n.LHS), n.VectorMatching.MatchingLabels...)...)
				wrong = append(wrong, e.missing(e.within(n.RHS), n.VectorMatching.MatchingLabels...)...)
			}
		}
		return nil
	})
	return wrong
}

// selected are the names of the exported metrics that a selector may find.
func (e exported) selected(s *parser.VectorSelector) []string {
	var names []string
	for name := range e {
		if !slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool { return m.Name == model.MetricNameLabel && !m.Matches(name) }) {
			names = append(names, name)
		}
	}
	return names
}

// within are the names of the exported metrics that an expression reads.
func (e exported) within(expression parser.Expr) []string {
	var names []string
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		if s, ok := node.(*parser.VectorSelector); ok {
			names = append(names, e.selected(s)...)
		}
		return nil
	})
	return names
}

// missing says which labels none of some metrics has.
func (e exported) missing(names []string, wanted ...string) []string {
	var wrong []string
	for _, label := range wanted {
		if label != model.MetricNameLabel && !slices.Contains(ofTarget, label) && !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(e[name], label) }) {
			wrong = append(wrong, fmt.Sprintf("none of %q has the label %s", names, label))
		}
	}
	return wrong
}

// TestUnknownMetricsAreNoticed, and unknown labels, wherever they are in a query.
func TestUnknownMetricsAreNoticed(t *testing.T) {
	e := exported{"csv_succeeded": {"namespace", "name", "version"}, "csv_abnormal": {"namespace", "name", "phase"}, "d_seconds_bucket": {"le"}}
	for query, want := range map[string]int{
		`sum(csv_succeeded)`:                                               0,
		`sum by(pod) (rate(csv_succeeded{job="j"}[5m]))`:                   0,
		`count by(phase) (csv_abnormal{name=~"o.*"})`:                      0,
		`csv_abnormal * on(namespace, name) csv_succeeded`:                 0,
		`count({__name__=~"csv_.*"}) by (namespace)`:                       0,
		`histogram_quantile(0.5, sum by(le) (rate(d_seconds_bucket[5m])))`: 0,
		`time() - max(csv_succeed)`:                                        1, // another word
		`csv_succeeded or vector(0) or csv_gone`:                           1,
		`csv_succeeded{phase="Failed"}`:                                    1, // a label of another metric
		`count by(reason) (csv_abnormal)`:                                  1,
		`csv_abnormal * on(phase) csv_succeeded`:                           1,
		`rate(d_seconds_count[5m])`:                                        1,
		`{__name__=~"csv_x.*"}`:                                            1,
		`sum(`:                                                             1,
	} {
		if wrong := e.unknown(query); len(wrong) != want {
			t.Errorf("%s: %q, want %d", query, wrong, want)
		}
	}
	must.Empty(t, "a query of nothing", e.unknown("vector(1)"))
}
