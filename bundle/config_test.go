package bundle

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

func env(pairs ...string) []corev1.EnvVar {
	var out []corev1.EnvVar
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, corev1.EnvVar{Name: pairs[i], Value: pairs[i+1]})
	}
	return out
}

func configMapRef(name string) corev1.EnvFromSource {
	return corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}
}

func hostPath(name, path string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path}}}
}

func mount(name, path string) corev1.VolumeMount {
	return corev1.VolumeMount{Name: name, MountPath: path}
}

// configCase is one rule of how the configuration of a Subscription meets what an author wrote.
type configCase struct {
	pod    func(*corev1.PodSpec) // what the author wrote
	config v1alpha1.SubscriptionConfig
	proxy  []corev1.EnvVar
	want   any
}

// testConfig renders each case and compares what get finds.
func testConfig(t *testing.T, tests map[string]configCase, get func(*appsv1.Deployment) any) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			csv := testCSV(func(csv *v1alpha1.ClusterServiceVersion) {
				if tc.pod != nil {
					tc.pod(&onlyPod(csv).Spec)
				}
			})
			got := renderOne(t, csv, DeploymentOptions{Config: &tc.config, ProxyEnv: tc.proxy})
			must.Equal(t, "get", get(got), tc.want)
			must.Equal(t, "init containers were changed", got.Spec.Template.Spec.InitContainers, testDeployment("op").Spec.Template.Spec.InitContainers)
		})
	}
}

func container(d *appsv1.Deployment) corev1.Container { return d.Spec.Template.Spec.Containers[0] }

func TestConfigEnv(t *testing.T) {
	own := func(p *corev1.PodSpec) { p.Containers[0].Env = env("A", "1", "B", "2") }
	last := []string{"OPERATOR_CONDITION_NAME", "op.v1.0.0"}
	wanted := func(pairs ...string) []corev1.EnvVar { return env(append(pairs, last...)...) }
	proxies := env("HTTP_PROXY", "p", "HTTPS_PROXY", "", "NO_PROXY", "n")
	tests := map[string]configCase{
		"nothing": {pod: own, want: wanted("A", "1", "B", "2")},
		"overrides in place, new ones and the proxy after it": {
			pod: own, config: v1alpha1.SubscriptionConfig{Env: env("B", "9", "C", "3")}, proxy: env("HTTP_PROXY", "p"),
			want: wanted("A", "1", "B", "9", "C", "3", "HTTP_PROXY", "p"),
		},
		"proxies without a value are left out": {pod: own, proxy: proxies, want: wanted("A", "1", "B", "2", "HTTP_PROXY", "p", "NO_PROXY", "n")},
		"one proxy variable of the configuration keeps out all": {
			config: v1alpha1.SubscriptionConfig{Env: env("NO_PROXY", "")}, proxy: proxies, want: wanted("NO_PROXY", ""),
		},
		"the proxy of the cluster wins over the author's": {
			pod: func(p *corev1.PodSpec) { p.Containers[0].Env = env("HTTP_PROXY", "author", "A", "1") }, proxy: proxies,
			want: wanted("HTTP_PROXY", "p", "A", "1", "NO_PROXY", "n"),
		},
		"a source is replaced as a whole": {
			pod: func(p *corev1.PodSpec) {
				p.Containers[0].Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}}
			},
			config: v1alpha1.SubscriptionConfig{Env: env("A", "1")}, want: wanted("A", "1"),
		},
		"the last of two overrides counts": {config: v1alpha1.SubscriptionConfig{Env: env("A", "1", "A", "2")}, want: wanted("A", "2")},
		"the condition is not to be renamed": {
			config: v1alpha1.SubscriptionConfig{Env: env("OPERATOR_CONDITION_NAME", "other", "A", "1")},
			want:   env("OPERATOR_CONDITION_NAME", "op.v1.0.0", "A", "1"),
		},
	}
	testConfig(t, tests, func(d *appsv1.Deployment) any { return container(d).Env })
}

func TestConfigEnvFrom(t *testing.T) {
	own := func(p *corev1.PodSpec) { p.Containers[0].EnvFrom = []corev1.EnvFromSource{configMapRef("a")} }
	tests := map[string]configCase{
		"new ones are appended": {pod: own, config: v1alpha1.SubscriptionConfig{EnvFrom: []corev1.EnvFromSource{configMapRef("b")}}, want: []corev1.EnvFromSource{configMapRef("a"), configMapRef("b")}},
		"equal ones are not":    {pod: own, config: v1alpha1.SubscriptionConfig{EnvFrom: []corev1.EnvFromSource{configMapRef("a")}}, want: []corev1.EnvFromSource{configMapRef("a")}},
		"repetitions in the configuration stay": {
			config: v1alpha1.SubscriptionConfig{EnvFrom: []corev1.EnvFromSource{configMapRef("b"), configMapRef("b")}},
			want:   []corev1.EnvFromSource{configMapRef("b"), configMapRef("b")},
		},
	}
	testConfig(t, tests, func(d *appsv1.Deployment) any { return container(d).EnvFrom })
}

func TestConfigVolumes(t *testing.T) {
	own := func(p *corev1.PodSpec) { p.Volumes = []corev1.Volume{hostPath("a", "/a"), hostPath("b", "/b")} }
	tests := map[string]configCase{
		"nothing": {pod: own, want: []corev1.Volume{hostPath("a", "/a"), hostPath("b", "/b")}},
		"replaced by name, else appended": {
			pod: own, config: v1alpha1.SubscriptionConfig{Volumes: []corev1.Volume{hostPath("c", "/c"), hostPath("a", "/x")}},
			want: []corev1.Volume{hostPath("a", "/x"), hostPath("b", "/b"), hostPath("c", "/c")},
		},
	}
	testConfig(t, tests, func(d *appsv1.Deployment) any { return d.Spec.Template.Spec.Volumes })
}

func TestConfigVolumeMounts(t *testing.T) {
	own := func(p *corev1.PodSpec) {
		p.Containers[0].VolumeMounts = []corev1.VolumeMount{mount("a", "/a"), mount("b", "/b"), mount("a", "/a2")}
	}
	tests := map[string]configCase{
		"replaced by name, else appended": {
			pod: own, config: v1alpha1.SubscriptionConfig{VolumeMounts: []corev1.VolumeMount{mount("b", "/x"), mount("c", "/c")}},
			want: []corev1.VolumeMount{mount("a", "/a"), mount("b", "/x"), mount("a", "/a2"), mount("c", "/c")},
		},
		"a volume mounted twice": {
			pod: own, config: v1alpha1.SubscriptionConfig{VolumeMounts: []corev1.VolumeMount{mount("a", "/1"), mount("a", "/2"), mount("a", "/3")}},
			want: []corev1.VolumeMount{mount("a", "/1"), mount("b", "/b"), mount("a", "/2"), mount("a", "/3")},
		},
	}
	testConfig(t, tests, func(d *appsv1.Deployment) any { return container(d).VolumeMounts })
}

func TestConfigEveryContainer(t *testing.T) {
	csv := testCSV(func(csv *v1alpha1.ClusterServiceVersion) {
		pod := &onlyPod(csv).Spec
		pod.Containers = append(pod.Containers, corev1.Container{Name: "second"})
	})
	config := &v1alpha1.SubscriptionConfig{Env: env("A", "1"), EnvFrom: []corev1.EnvFromSource{configMapRef("a")}, VolumeMounts: []corev1.VolumeMount{mount("a", "/a")}}
	got := renderOne(t, csv, DeploymentOptions{Config: config})
	first, second := got.Spec.Template.Spec.Containers[0], got.Spec.Template.Spec.Containers[1]
	first.Name, first.Image = "second", ""
	must.Equal(t, "the second container", second, first)
}

func TestConfigTolerations(t *testing.T) {
	a, b := corev1.Toleration{Key: "a"}, corev1.Toleration{Key: "b"}
	own := func(p *corev1.PodSpec) { p.Tolerations = []corev1.Toleration{a} }
	tests := map[string]configCase{
		"new ones are appended":                 {pod: own, config: v1alpha1.SubscriptionConfig{Tolerations: []corev1.Toleration{b}}, want: []corev1.Toleration{a, b}},
		"equal ones are not":                    {pod: own, config: v1alpha1.SubscriptionConfig{Tolerations: []corev1.Toleration{a, b}}, want: []corev1.Toleration{a, b}},
		"repetitions in the configuration stay": {config: v1alpha1.SubscriptionConfig{Tolerations: []corev1.Toleration{b, b}}, want: []corev1.Toleration{b, b}},
	}
	testConfig(t, tests, func(d *appsv1.Deployment) any { return d.Spec.Template.Spec.Tolerations })
}

func TestConfigResources(t *testing.T) {
	limit := func(name corev1.ResourceName, value string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{name: resource.MustParse(value)}}
	}
	cpu, memory := limit("cpu", "1"), limit("memory", "1Gi")
	own := func(p *corev1.PodSpec) { p.Containers[0].Resources = cpu }
	tests := map[string]configCase{
		"none keeps the author's": {pod: own, want: cpu},
		"replaced as a whole":     {pod: own, config: v1alpha1.SubscriptionConfig{Resources: &memory}, want: memory},
		"empty ones clear":        {pod: own, config: v1alpha1.SubscriptionConfig{Resources: &corev1.ResourceRequirements{}}, want: corev1.ResourceRequirements{}},
	}
	testConfig(t, tests, func(d *appsv1.Deployment) any { return container(d).Resources })
}

func TestConfigNodeSelector(t *testing.T) {
	own := func(p *corev1.PodSpec) { p.NodeSelector = map[string]string{"a": "1"} }
	tests := map[string]configCase{
		"none keeps the author's": {pod: own, want: map[string]string{"a": "1"}},
		"replaced as a whole":     {pod: own, config: v1alpha1.SubscriptionConfig{NodeSelector: map[string]string{"b": "2"}}, want: map[string]string{"b": "2"}},
		"an empty one clears":     {pod: own, config: v1alpha1.SubscriptionConfig{NodeSelector: map[string]string{}}, want: map[string]string{}},
	}
	testConfig(t, tests, func(d *appsv1.Deployment) any { return d.Spec.Template.Spec.NodeSelector })
}

func TestConfigAnnotations(t *testing.T) {
	csv := testCSV(func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Annotations = map[string]string{"csv": "csv"}
		onlyPod(csv).Annotations = map[string]string{"pod": "pod"}
	})
	config := &v1alpha1.SubscriptionConfig{Annotations: map[string]string{"csv": "x", "pod": "x", "new": "x"}}
	got := renderOne(t, csv, DeploymentOptions{Config: config})
	must.Equal(t, "Deployment", got.Annotations, map[string]string{"csv": "x", "pod": "x", "new": "x"})
	must.Equal(t, "pods", got.Spec.Template.Annotations, map[string]string{"csv": "csv", "pod": "pod", "new": "x"})
}

func TestConfigSelector(t *testing.T) {
	selector := func(key, value string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
	}
	changed := env("A", "1", "HTTP_PROXY", "p", "OPERATOR_CONDITION_NAME", "op.v1.0.0")
	kept := env("HTTP_PROXY", "p", "OPERATOR_CONDITION_NAME", "op.v1.0.0")
	config := func(s *metav1.LabelSelector) v1alpha1.SubscriptionConfig {
		return v1alpha1.SubscriptionConfig{Selector: s, Env: env("A", "1")}
	}
	proxy := env("HTTP_PROXY", "p")
	tests := map[string]configCase{
		"none selects all":                 {config: config(nil), proxy: proxy, want: changed},
		"an empty one selects all":         {config: config(&metav1.LabelSelector{}), proxy: proxy, want: changed},
		"labels of the pods":               {config: config(selector("app", "op")), proxy: proxy, want: changed},
		"labels of the Deployment":         {config: config(selector("tier", "control")), proxy: proxy, want: changed},
		"others get only what all of them": {config: config(selector("app", "other")), proxy: proxy, want: kept},
	}
	testConfig(t, tests, func(d *appsv1.Deployment) any { return container(d).Env })
}

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
			must.Equal(t, "mergeAffinity", mergeAffinity(tc.have, tc.over), tc.want)
			must.Equal(t, "what was there was changed", tc.have, before)
		})
	}
}
