package bundle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMergeAffinity(t *testing.T) {
	node := func(key string) *corev1.NodeAffinity {
		return &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: key}},
		}}}}
	}
	terms := func(key string) []corev1.PodAffinityTerm {
		return []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: &metav1.LabelSelector{}}}
	}
	pod := func(key string) *corev1.PodAffinity {
		return &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms(key)}
	}
	anti := func(key string) *corev1.PodAntiAffinity {
		return &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms(key)}
	}
	all := func() *corev1.Affinity {
		return &corev1.Affinity{NodeAffinity: node("n"), PodAffinity: pod("p"), PodAntiAffinity: anti("a")}
	}
	tests := map[string]struct {
		have, over, want *corev1.Affinity
	}{
		"none and none":                 {},
		"none keeps":                    {have: all(), want: all()},
		"an empty one clears":           {have: all(), over: &corev1.Affinity{}},
		"an empty one over none":        {over: &corev1.Affinity{}},
		"a new one":                     {over: all(), want: all()},
		"the node part is replaced":     {have: all(), over: &corev1.Affinity{NodeAffinity: node("x")}, want: &corev1.Affinity{NodeAffinity: node("x"), PodAffinity: pod("p"), PodAntiAffinity: anti("a")}},
		"the pod part is replaced":      {have: all(), over: &corev1.Affinity{PodAffinity: pod("x")}, want: &corev1.Affinity{NodeAffinity: node("n"), PodAffinity: pod("x"), PodAntiAffinity: anti("a")}},
		"the anti part is replaced":     {have: all(), over: &corev1.Affinity{PodAntiAffinity: anti("x")}, want: &corev1.Affinity{NodeAffinity: node("n"), PodAffinity: pod("p"), PodAntiAffinity: anti("x")}},
		"the node part is cleared":      {have: all(), over: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}, want: &corev1.Affinity{PodAffinity: pod("p"), PodAntiAffinity: anti("a")}},
		"the pod part is cleared":       {have: all(), over: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}}, want: &corev1.Affinity{NodeAffinity: node("n"), PodAntiAffinity: anti("a")}},
		"only the anti part is cleared": {have: all(), over: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}}, want: &corev1.Affinity{NodeAffinity: node("n"), PodAffinity: pod("p")}},
		"the last part is cleared":      {have: &corev1.Affinity{PodAffinity: pod("p")}, over: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}}},
		"a preference is not empty": {
			over: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1}}}},
			want: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1}}}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := tc.have.DeepCopy()
			if diff := cmp.Diff(tc.want, mergeAffinity(tc.have, tc.over)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, tc.have); diff != "" {
				t.Errorf("what was there was changed:\n%s", diff)
			}
		})
	}
}
