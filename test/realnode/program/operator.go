package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// certificates is where the lifecycle manager mounts the serving certificate.
const certificates = "/tmp/k8s-webhook-server/serving-certs"

// group is that of the kinds Thing, which webhooks are asked about, and Widget, which this program serves.
const group = "real.fairlead.dev"

type object = map[string]any

// operate serves webhooks of every kind and an aggregated API on port 9443 until it is asked to end. Requests that come until the last proxy knows that it ends are answered.
func operate(version, probes string) error {
	mux := http.NewServeMux()
	validate := answer("AdmissionReview", func(request object) object {
		return object{"allowed": size(request["object"]) >= 0, "status": object{"message": "a size is not negative"}}
	})
	mutate := answer("AdmissionReview", func(object) object {
		patch, _ := json.Marshal([]object{{"op": "add", "path": "/metadata/annotations", "value": object{group + "/seen-by": version}}}) // maps of strings can be encoded
		return object{"allowed": true, "patchType": "JSONPatch", "patch": patch}
	})
	mux.HandleFunc("/{hook}", func(w http.ResponseWriter, r *http.Request) { // as in /mutate, or /mutate-rabbitmq-com-v1beta1-rabbitmqcluster
		if strings.HasPrefix(r.PathValue("hook"), "mutate") {
			mutate(w, r)
			return
		}
		validate(w, r)
	})
	mux.HandleFunc("/convert", answer("ConversionReview", convert))
	mux.HandleFunc("/apis/"+group+"/v1alpha1", func(w http.ResponseWriter, _ *http.Request) {
		write(w, object{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group + "/v1alpha1",
			"resources": []object{{"name": "widgets", "singularName": "widget", "namespaced": true, "kind": "Widget", "verbs": []string{"get"}}}})
	})
	mux.HandleFunc("/apis/"+group+"/v1alpha1/namespaces/{namespace}/widgets/{name}", func(w http.ResponseWriter, r *http.Request) {
		write(w, object{"apiVersion": group + "/v1alpha1", "kind": "Widget", "metadata": object{"namespace": r.PathValue("namespace"), "name": r.PathValue("name")}, "servedBy": version})
	})
	server := &http.Server{Addr: ":9443", Handler: mux, ReadHeaderTimeout: time.Minute, TLSConfig: &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { // as it is mounted now
			pair, err := tls.LoadX509KeyPair(filepath.Join(certificates, "tls.crt"), filepath.Join(certificates, "tls.key"))
			return &pair, err
		}}}
	ended := make(chan error, 2)
	go func() { ended <- server.ListenAndServeTLS("", "") }()
	go func() {
		ended <- (&http.Server{Addr: probes, ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ready") })}).ListenAndServe()
	}()
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM)
	select {
	case err := <-ended:
		return err
	case <-ends:
	}
	time.Sleep(3 * time.Second)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return server.Shutdown(ctx)
}

// answer answers a review of a kind.
func answer(kind string, judge func(request object) object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var review object
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		request, _ := review["request"].(object)
		response := judge(request)
		response["uid"] = request["uid"]
		write(w, object{"apiVersion": review["apiVersion"], "kind": kind, "response": response})
	}
}

func write(w http.ResponseWriter, content object) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(content)
}

// size is that of a Thing.
func size(thing any) float64 {
	content, _ := thing.(object)
	spec, _ := content["spec"].(object)
	number, _ := spec["size"].(float64)
	return number
}

// convert makes sizes ten times as large in v2, so that a Thing that was not converted shows.
func convert(request object) object {
	to, _ := request["desiredAPIVersion"].(string)
	all, _ := request["objects"].([]any)
	for _, one := range all {
		thing, _ := one.(object)
		number := size(thing)
		if from := fmt.Sprint(thing["apiVersion"]); from != to {
			if strings.HasSuffix(to, "/v2") {
				number *= 10
			} else {
				number /= 10
			}
		}
		thing["spec"], thing["apiVersion"] = object{"size": number}, to
	}
	return object{"result": object{"status": "Success"}, "convertedObjects": all}
}
