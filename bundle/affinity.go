package bundle

import corev1 "k8s.io/api/core/v1"

// mergeAffinity overrides the affinity of pods part by part. No override, or no part in it, keeps what is there, an
// empty one clears it, anything else replaces it. The override as a whole follows the same rule.
func mergeAffinity(have, over *corev1.Affinity) *corev1.Affinity {
	if over == nil {
		return have
	}
	if *over == (corev1.Affinity{}) {
		return nil
	}
	out := corev1.Affinity{}
	if have != nil {
		out = *have
	}
	if part := over.NodeAffinity; part != nil {
		out.NodeAffinity = part
		if part.RequiredDuringSchedulingIgnoredDuringExecution == nil && len(part.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
			out.NodeAffinity = nil
		}
	}
	if part := over.PodAffinity; part != nil {
		out.PodAffinity = part
		if len(part.RequiredDuringSchedulingIgnoredDuringExecution)+len(part.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
			out.PodAffinity = nil
		}
	}
	if part := over.PodAntiAffinity; part != nil {
		out.PodAntiAffinity = part
		if len(part.RequiredDuringSchedulingIgnoredDuringExecution)+len(part.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
			out.PodAntiAffinity = nil
		}
	}
	if out == (corev1.Affinity{}) {
		return nil
	}
	return &out
}
