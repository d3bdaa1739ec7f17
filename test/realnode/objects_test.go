package realnode

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"

	"fairlead.dev/fairlead/test/must"
)

// restricted is what namespaces with PodSecurity restricted demand.
func (w *world) container(env []corev1.EnvVar, args ...string) corev1.PodSpec {
	no, yes := false, true
	return corev1.PodSpec{
		SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
		Containers: []corev1.Container{{
			Name: "main", Image: w.image, Args: args, Env: env,
			SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
		}},
	}
}

// serve makes a Deployment that serves, with a readiness probe, and its Service, and waits until all replicas do.
func (w *world) serve(namespace, name string, replicas int32, env ...corev1.EnvVar) {
	w.Helper()
	labels := map[string]string{"app": name}
	spec := w.container(env, "serve")
	spec.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(8080)}}, PeriodSeconds: 1}
	must.Value(w.client.AppsV1().Deployments(namespace).Create(w.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
		},
	}, metav1.CreateOptions{}))(w)
	must.Value(w.client.CoreV1().Services(namespace).Create(w.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{
			{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}, {Name: "https", Port: 443, TargetPort: intstr.FromInt32(8443)},
		}},
	}, metav1.CreateOptions{}))(w)
	w.awaitAvailable(namespace, name, replicas)
}

func (w *world) awaitAvailable(namespace, name string, replicas int32) {
	w.Helper()
	began := time.Now()
	w.eventually(fmt.Sprintf("Deployment %s has %d available replicas", name, replicas), func(ctx context.Context) error {
		d, err := w.client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && d.Status.AvailableReplicas != replicas {
			err = fmt.Errorf("%+v; pods: %s", d.Status, w.pods(ctx, namespace))
		}
		return err
	})
	w.Logf("Deployment %s is available after %s", name, time.Since(began).Round(100*time.Millisecond))
}

// pods says why pods wait.
func (w *world) pods(ctx context.Context, namespace string) string {
	pods, err := w.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	text := ""
	for _, pod := range pods.Items {
		text += fmt.Sprintf("\n%s %s %+v", pod.Name, pod.Status.Phase, pod.Status.ContainerStatuses)
	}
	return text
}

func (w *world) eventually(what string, question func(context.Context) error) {
	w.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		err := question(w.Context())
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			w.Fatalf("%s: not within a minute: %v", what, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// once runs a pod to its end and returns its log.
func (w *world) once(namespace, name string, args ...string) string {
	w.Helper()
	spec := w.container(nil, args...)
	spec.RestartPolicy = corev1.RestartPolicyNever
	must.Value(w.client.CoreV1().Pods(namespace).Create(w.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{}))(w)
	w.eventually("pod "+name+" ends", func(ctx context.Context) error {
		pod, err := w.client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			err = fmt.Errorf("%+v", pod.Status)
		}
		return err
	})
	return w.log(namespace, name)
}

func (w *world) log(namespace, pod string) string {
	w.Helper()
	return string(must.Value(w.client.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{}).DoRaw(w.Context()))(w))
}

// exec runs a program in a pod that runs already.
func (w *world) exec(namespace, pod string, command ...string) string {
	w.Helper()
	request := w.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: "main", Command: command, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	executor := must.Value(remotecommand.NewWebSocketExecutor(w.config, http.MethodGet, request.URL().String()))(w)
	var out, errs bytes.Buffer
	err := executor.StreamWithContext(w.Context(), remotecommand.StreamOptions{Stdout: &out, Stderr: &errs})
	must.NoErrorf(w, err, "exec %v in pod %s: %s", command, pod, &errs)
	return out.String()
}

// podsOf are the names of the pods of a Deployment.
func (w *world) podsOf(namespace, app string) []corev1.Pod {
	w.Helper()
	return must.Value(w.client.CoreV1().Pods(namespace).List(w.Context(), metav1.ListOptions{LabelSelector: "app=" + app}))(w).Items
}
