package registryv1

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// maxPodAnnotation is the length in bytes of the longest annotation of a ClusterServiceVersion that its pods get. Longer ones are documents
// for consoles, such as alm-examples; in pods they would cost memory in every node and client, and could exceed the 256 KiB that an object
// may have of annotations.
const maxPodAnnotation = 1024

// revisionHistoryLimit is that of all Deployments: another revision of the extension is the way back.
const revisionHistoryLimit int32 = 1

// deployments are those of the install strategy, configured, with their certificates.
func (r *renderer) deployments() ([]runtime.Object, error) {
	var out []runtime.Object
	for i := range r.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		out = append(out, r.deployment(&r.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[i]))
	}
	return out, nil
}

func (r *renderer) deployment(in *v1alpha1.StrategyDeploymentSpec) *appsv1.Deployment {
	d := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
		ObjectMeta: r.meta(in.Name),
		Spec:       *in.Spec.DeepCopy(),
	}
	for key, value := range in.Label {
		metav1.SetMetaDataLabel(&d.ObjectMeta, key, value)
	}
	template := &d.Spec.Template
	template.Annotations = r.podAnnotations(template)
	if r.config != nil {
		bundle.MergeConfig(d, r.config)
	}
	if cert, ok := r.certs[in.Name]; ok {
		mountCert(&template.Spec, cert.Secret)
	}
	if name := r.options.OperatorCondition; name != "" {
		bundle.MergeConfig(d, &v1alpha1.SubscriptionConfig{Env: []corev1.EnvVar{{Name: bundle.ConditionNameEnv, Value: name}}})
	}
	bundle.UniqueLists(&template.Spec)
	d.Spec.RevisionHistoryLimit = ptr(revisionHistoryLimit)
	return d
}

// podAnnotations are those of the ClusterServiceVersion, of the template, and where the operator is and what it watches. Later ones win.
func (r *renderer) podAnnotations(template *corev1.PodTemplateSpec) map[string]string {
	out := map[string]string{}
	for key, value := range r.csv.Annotations {
		if len(value) <= maxPodAnnotation || readsAnnotation(&template.Spec, key) {
			out[key] = value
		}
	}
	for key, value := range template.Annotations {
		out[key] = value
	}
	out[v1alpha1.TargetNamespacesAnnotation] = strings.Join(r.targets, ",")
	out[v1alpha1.OperatorNamespaceAnnotation] = r.options.Namespace
	return out
}

// readsAnnotation says whether a pod reads one of its annotations, in an environment variable or a file.
func readsAnnotation(pod *corev1.PodSpec, key string) bool {
	reads := func(field *corev1.ObjectFieldSelector) bool {
		return field != nil && (field.FieldPath == "metadata.annotations" || field.FieldPath == "metadata.annotations['"+key+"']")
	}
	for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
		for _, variable := range container.Env {
			if variable.ValueFrom != nil && reads(variable.ValueFrom.FieldRef) {
				return true
			}
		}
	}
	for _, volume := range pod.Volumes {
		for _, item := range downwardItems(volume) {
			if reads(item.FieldRef) {
				return true
			}
		}
	}
	return false
}

// downwardItems are the files of a volume that are made of fields of the pod.
func downwardItems(volume corev1.Volume) []corev1.DownwardAPIVolumeFile {
	var out []corev1.DownwardAPIVolumeFile
	if volume.DownwardAPI != nil {
		out = append(out, volume.DownwardAPI.Items...)
	}
	if volume.Projected != nil {
		for _, source := range volume.Projected.Sources {
			if source.DownwardAPI != nil {
				out = append(out, source.DownwardAPI.Items...)
			}
		}
	}
	return out
}
