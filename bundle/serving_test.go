package bundle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

func certMounts() []corev1.VolumeMount {
	return []corev1.VolumeMount{mount("apiservice-cert", "/apiserver.local.config/certificates"), mount("webhook-cert", "/tmp/k8s-webhook-server/serving-certs")}
}

func TestMountCert(t *testing.T) {
	secret := func(name, secret, cert, key string) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: secret, Items: []corev1.KeyToPath{{Key: "tls.crt", Path: cert}, {Key: "tls.key", Path: key}},
		}}}
	}
	volumes := func(name string) []corev1.Volume {
		return []corev1.Volume{secret("apiservice-cert", name, "apiserver.crt", "apiserver.key"), secret("webhook-cert", name, "tls.crt", "tls.key")}
	}
	tests := map[string]struct {
		deployment  string
		pod         func(*corev1.PodSpec)
		cert        ServingCert
		volumes     []corev1.Volume
		mounts      []corev1.VolumeMount
		account     string
		annotations map[string]string
	}{
		"into a bare pod": {
			deployment: "op", cert: ServingCert{CA: []byte("abc")}, volumes: volumes("op-service-cert"), mounts: certMounts(), account: "default",
			annotations: map[string]string{"olmcahash": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		},
		"the account stays": {
			deployment: "op", pod: func(p *corev1.PodSpec) { p.ServiceAccountName = "sa" },
			volumes: volumes("op-service-cert"), mounts: certMounts(), account: "sa",
		},
		"dots of the name": {deployment: "op.v1", volumes: volumes("op-v1-service-cert"), mounts: certMounts(), account: "default"},
		"a secret of others": {
			deployment: "op", cert: ServingCert{Secret: "theirs"}, volumes: volumes("theirs"), mounts: certMounts(), account: "default",
		},
		"a volume of the same name is replaced": {
			deployment: "op", pod: func(p *corev1.PodSpec) {
				p.Volumes = []corev1.Volume{hostPath("webhook-cert", "/x"), hostPath("data", "/data")}
			},
			volumes: []corev1.Volume{volumes("op-service-cert")[1], hostPath("data", "/data"), volumes("op-service-cert")[0]},
			mounts:  certMounts(), account: "default",
		},
		"a mount of the same name stays": {
			deployment: "op", pod: func(p *corev1.PodSpec) {
				p.Containers[0].VolumeMounts = []corev1.VolumeMount{mount("webhook-cert", "/mine")}
			},
			volumes: volumes("op-service-cert"), mounts: []corev1.VolumeMount{mount("webhook-cert", "/mine"), certMounts()[0]}, account: "default",
		},
		"a mount at the same place is replaced": {
			deployment: "op", pod: func(p *corev1.PodSpec) {
				p.Volumes = []corev1.Volume{hostPath("cert", "/x")}
				p.Containers[0].VolumeMounts = []corev1.VolumeMount{mount("cert", "/tmp/k8s-webhook-server/serving-certs")}
			},
			volumes: append([]corev1.Volume{hostPath("cert", "/x")}, volumes("op-service-cert")...),
			mounts:  []corev1.VolumeMount{certMounts()[1], certMounts()[0]}, account: "default",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			csv := testCSV(func(csv *v1alpha1.ClusterServiceVersion) {
				csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs = []v1alpha1.StrategyDeploymentSpec{testDeployment(tc.deployment)}
				if tc.pod != nil {
					tc.pod(&onlyPod(csv).Spec)
				}
			})
			got := renderOne(t, csv, DeploymentOptions{Certs: map[string]ServingCert{tc.deployment: tc.cert}}).Spec.Template
			must.Equal(t, "volumes", got.Spec.Volumes, tc.volumes)
			must.Equal(t, "mounts", got.Spec.Containers[0].VolumeMounts, tc.mounts)
			if len(tc.annotations) != len(got.Annotations) || got.Annotations["olmcahash"] != tc.annotations["olmcahash"] {
				t.Errorf("annotations %v, want %v", got.Annotations, tc.annotations)
			}
			must.Equal(t, "account", got.Spec.ServiceAccountName, tc.account)
		})
	}
}

func TestServingNames(t *testing.T) {
	if got := ServingHosts("op.v1", "ns"); !cmp.Equal(got, []string{"op-v1-service.ns", "op-v1-service.ns.svc", "op-v1-service.ns.svc.cluster.local"}) {
		t.Errorf("hosts %q", got)
	}
}

func TestServices(t *testing.T) {
	port := func(name string, number int32, target intstr.IntOrString) corev1.ServicePort {
		return corev1.ServicePort{Name: name, Port: number, TargetPort: target}
	}
	target := intstr.FromInt32(9443)
	named := intstr.FromString("webhook")
	hook := func(deployment string, port int32, target *intstr.IntOrString) v1alpha1.WebhookDescription {
		return v1alpha1.WebhookDescription{DeploymentName: deployment, ContainerPort: port, TargetPort: target}
	}
	tests := map[string]struct {
		webhooks []v1alpha1.WebhookDescription
		apis     []v1alpha1.APIServiceDescription
		want     map[string][]corev1.ServicePort // by Service
	}{
		"nothing is served": {want: map[string][]corev1.ServicePort{}},
		"a webhook": {
			webhooks: []v1alpha1.WebhookDescription{hook("op", 443, &target)},
			want:     map[string][]corev1.ServicePort{"op-service": {port("443", 443, target)}},
		},
		"defaults": {
			webhooks: []v1alpha1.WebhookDescription{hook("op", 0, nil)},
			want:     map[string][]corev1.ServicePort{"op-service": {port("443", 443, intstr.FromInt32(443))}},
		},
		"distinct ports in order": {
			webhooks: []v1alpha1.WebhookDescription{hook("op", 8443, nil), hook("op", 443, &named), hook("op", 443, &target), hook("other.v1", 1, nil)},
			apis:     []v1alpha1.APIServiceDescription{{DeploymentName: "op", ContainerPort: 5443}, {DeploymentName: "op"}},
			want: map[string][]corev1.ServicePort{
				"op-service":       {port("443", 443, named), port("5443", 5443, intstr.FromInt32(5443)), port("8443", 8443, intstr.FromInt32(8443))},
				"other-v1-service": {port("1", 1, intstr.FromInt32(1))},
			},
		},
		"an API alone": {
			apis: []v1alpha1.APIServiceDescription{{DeploymentName: "op"}},
			want: map[string][]corev1.ServicePort{"op-service": {port("443", 443, intstr.FromInt32(443))}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			csv := testCSV(func(csv *v1alpha1.ClusterServiceVersion) {
				csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs = append(csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs, testDeployment("other.v1"))
				csv.Spec.WebhookDefinitions = tc.webhooks
				csv.Spec.APIServiceDefinitions.Owned = tc.apis
			})
			services := must.Value(Services(csv))(t)
			got := map[string][]corev1.ServicePort{}
			for _, service := range services {
				got[service.Name] = service.Spec.Ports
			}
			must.Equal(t, "result", got, tc.want)
			must.Equal(t, "len(ServingDeployments(csv))", len(ServingDeployments(csv)), len(services))
		})
	}
}

func TestServiceObject(t *testing.T) {
	csv := testCSV(func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.WebhookDefinitions = []v1alpha1.WebhookDescription{{DeploymentName: "op"}}
	})
	services, err := Services(csv)
	if err != nil || len(services) != 1 {
		t.Fatalf("%d Services, error %v", len(services), err)
	}
	want := &corev1.Service{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "op-service", Namespace: "ns", OwnerReferences: []metav1.OwnerReference{OwnerReference(csv)},
			Labels: map[string]string{"olm.managed": "true", "olm.owner": "op.v1.0.0", "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion"},
		},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "op"},
			Ports:    []corev1.ServicePort{{Name: "443", Port: 443, TargetPort: intstr.FromInt32(443)}},
		},
	}
	must.Equal(t, "services", services[0], want)

	csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Selector = nil
	_, err = Services(csv)
	wantError(t, err, "Service op-service", "op.v1.0.0", "no matchLabels")
}
