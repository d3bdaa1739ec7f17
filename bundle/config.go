package bundle

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// proxyVariables stand together: a configuration that sets one of them has taken charge of all.
var proxyVariables = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}

// configFor returns a copy of the configuration if it applies to the Deployment, else an empty one. Its selector looks
// at the labels of the pods and of the Deployment; without one it applies to all.
func configFor(config *v1alpha1.SubscriptionConfig, in *v1alpha1.StrategyDeploymentSpec) (*v1alpha1.SubscriptionConfig, error) {
	if config == nil {
		return &v1alpha1.SubscriptionConfig{}, nil
	}
	if config.Selector == nil {
		return config.DeepCopy(), nil
	}
	selector, err := metav1.LabelSelectorAsSelector(config.Selector)
	if err != nil {
		return nil, fmt.Errorf("read spec.config.selector of the Subscription: %w", err)
	}
	if !selector.Matches(labels.Set(union(in.Label, in.Spec.Template.Labels))) {
		return &v1alpha1.SubscriptionConfig{}, nil
	}
	return config.DeepCopy(), nil
}

// applyConfig merges the configuration of a Subscription into a Deployment, each field by its own rule.
func applyConfig(d *appsv1.Deployment, config *v1alpha1.SubscriptionConfig, proxy []corev1.EnvVar) {
	template := &d.Spec.Template
	pod := &template.Spec
	env := slices.Clone(config.Env)
	if !slices.ContainsFunc(env, func(e corev1.EnvVar) bool { return slices.Contains(proxyVariables, e.Name) }) {
		for _, variable := range proxy {
			if variable.Value != "" {
				env = append(env, variable)
			}
		}
	}
	for i := range pod.Containers { // init containers are left as their author wrote them
		c := &pod.Containers[i]
		c.Env = mergeEnv(c.Env, env)
		c.EnvFrom = appendNew(c.EnvFrom, config.EnvFrom)
		c.VolumeMounts = mergeByName(c.VolumeMounts, config.VolumeMounts, func(m corev1.VolumeMount) string { return m.Name })
		if config.Resources != nil {
			c.Resources = *config.Resources.DeepCopy()
		}
	}
	pod.Volumes = mergeByName(pod.Volumes, config.Volumes, func(v corev1.Volume) string { return v.Name })
	pod.Tolerations = appendNew(pod.Tolerations, config.Tolerations)
	if config.NodeSelector != nil {
		pod.NodeSelector = config.NodeSelector
	}
	pod.Affinity = mergeAffinity(pod.Affinity, config.Affinity)
	if len(config.Annotations) > 0 {
		d.Annotations = union(config.Annotations, d.Annotations)
		template.Annotations = union(config.Annotations, template.Annotations)
	}
}

// mergeEnv replaces variables where they stand and appends new ones in their order.
func mergeEnv(env, over []corev1.EnvVar) []corev1.EnvVar {
	out := slices.Clone(env)
	for _, variable := range over {
		found := false
		for i := range out {
			if out[i].Name == variable.Name {
				out[i], found = *variable.DeepCopy(), true
			}
		}
		if !found {
			out = append(out, *variable.DeepCopy())
		}
	}
	return out
}

// appendNew appends what equals none of the entries that were there; equal entries of the addition all stay.
func appendNew[T any](list, add []T) []T {
	out := slices.Clone(list)
	for _, item := range add {
		if !slices.ContainsFunc(list, func(have T) bool { return equality.Semantic.DeepEqual(have, item) }) {
			out = append(out, item)
		}
	}
	return out
}

// mergeByName puts each override in the place of the first entry of its name that was there and is not replaced yet,
// else at the end: a volume can be mounted in several places.
func mergeByName[T any](list, over []T, name func(T) string) []T {
	out := slices.Clone(list)
	replaced := make([]bool, len(list))
	for _, item := range over {
		place := slices.IndexFunc(list, func(have T) bool { return name(have) == name(item) })
		for place >= 0 && place < len(list) && (replaced[place] || name(list[place]) != name(item)) {
			place++
		}
		if place < 0 || place == len(list) {
			out = append(out, item)
			continue
		}
		out[place], replaced[place] = item, true
	}
	return out
}

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
