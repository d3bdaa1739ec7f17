package image

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestPlacesOfCredentials pulls in processes that find credentials where
// container tools keep them.
func TestPlacesOfCredentials(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	r.fill(t, Config{}, "test/image:v1", "content")
	r.fault(basic("user"))
	good, bad := auths(r.host, "user"), auths(r.host, "other")
	helper := []byte("#!/bin/sh\ncat > /dev/null\necho '{\"Username\":\"user\",\"Secret\":\"pw\"}'\n")
	tests := map[string]struct {
		files map[string][]byte // below a home directory
		env   []string          // where HOME stands for that directory
		works bool
	}{
		"nowhere":                           {nil, nil, false},
		"$REGISTRY_AUTH_FILE":               {map[string][]byte{"x.json": good}, []string{"REGISTRY_AUTH_FILE=HOME/x.json"}, true},
		"$REGISTRY_AUTH_FILE before all":    {map[string][]byte{"x.json": bad, ".docker/config.json": good}, []string{"REGISTRY_AUTH_FILE=HOME/x.json"}, false},
		"$XDG_RUNTIME_DIR":                  {map[string][]byte{"run/containers/auth.json": good}, []string{"XDG_RUNTIME_DIR=HOME/run"}, true},
		"$XDG_CONFIG_HOME":                  {map[string][]byte{"conf/containers/auth.json": good}, []string{"XDG_CONFIG_HOME=HOME/conf"}, true},
		"~/.config":                         {map[string][]byte{".config/containers/auth.json": good}, nil, true},
		"~/.docker":                         {map[string][]byte{".docker/config.json": good}, nil, true},
		"$DOCKER_CONFIG":                    {map[string][]byte{"dock/config.json": good}, []string{"DOCKER_CONFIG=HOME/dock"}, true},
		"~/.dockercfg, the oldest":          {map[string][]byte{".dockercfg": []byte(fmt.Sprintf(`{%q:%s}`, r.host, userOf("user")))}, nil, true},
		"another host":                      {map[string][]byte{".docker/config.json": auths("quay.io", "user")}, nil, false},
		"a credential helper for the host":  {map[string][]byte{".docker/config.json": []byte(fmt.Sprintf(`{"credHelpers":{%q:"test"}}`, r.host)), "bin/docker-credential-test": helper}, []string{"PATH=HOME/bin:" + os.Getenv("PATH")}, true},
		"a store for all hosts is not read": {map[string][]byte{".docker/config.json": []byte(`{"credsStore":"test"}`), "bin/docker-credential-test": helper}, []string{"PATH=HOME/bin:" + os.Getenv("PATH")}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for path, data := range tt.files {
				writeFile(t, filepath.Join(home, path), data)
				must.NoError(t, os.Chmod(filepath.Join(home, path), 0o700))
			}
			env := []string{"HOME=" + home, "XDG_CONFIG_HOME=", "XDG_RUNTIME_DIR=", "DOCKER_CONFIG=", "REGISTRY_AUTH_FILE="}
			for _, each := range tt.env {
				env = append(env, strings.ReplaceAll(each, "HOME/", home+"/"))
			}
			cmd, out := child(t, openStore(t, Config{}), r.host+"/test/image:v1", env...)
			err := cmd.Wait()
			if tt.works && (err != nil || out.String() != "content") {
				t.Errorf("pull: %v, %s", err, out)
			}
			if !tt.works && !strings.Contains(out.String(), string(Unauthorized)) {
				t.Errorf("pull: %v, %s, want %s", err, out, Unauthorized)
			}
		})
	}
}

// TestPlacesOfRegistriesConf pulls in processes that find a mirror where
// container tools look for it.
func TestPlacesOfRegistriesConf(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	r.fill(t, Config{}, "copies/org/image:v1", "content")
	conf := []byte(fmt.Sprintf("[[registry]]\nprefix = \"*.registry.test\"\n[[registry.mirror]]\nlocation = %q\n", r.host+"/copies"))
	tests := map[string]struct {
		path, env string
	}{
		"~/.config":                   {".config/containers/registries.conf", ""},
		"$XDG_CONFIG_HOME":            {"conf/containers/registries.conf", "XDG_CONFIG_HOME=HOME/conf"},
		"$CONTAINERS_REGISTRIES_CONF": {"mine.conf", "CONTAINERS_REGISTRIES_CONF=HOME/mine.conf"},
		"a file in registries.conf.d": {".config/containers/registries.conf.d/50-mirror.conf", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			writeFile(t, filepath.Join(home, tt.path), conf)
			env := []string{"HOME=" + home, "XDG_CONFIG_HOME="}
			if tt.env != "" {
				env = append(env, strings.ReplaceAll(tt.env, "HOME/", home+"/"))
			}
			cmd, out := child(t, openStore(t, Config{}), "eu.registry.test/org/image:v1", env...)
			if err := cmd.Wait(); err != nil || out.String() != "content" {
				t.Errorf("pull: %v, %s", err, out)
			}
		})
	}
}

// TestPlacesOfCertificates pulls in a process that finds the CA of the registry
// where container tools keep it.
func TestPlacesOfCertificates(t *testing.T) {
	t.Parallel()
	r, ca := newTLSRegistry(t)
	certs := t.TempDir()
	writeFile(t, filepath.Join(certs, r.host, "ca.crt"), ca)
	r.fill(t, Config{CertsDir: certs}, "test/image:v1", "content")
	for path, works := range map[string]bool{
		".config/containers/certs.d/" + r.host + "/ca.crt": true,
		"conf/containers/certs.d/" + r.host + "/ca.crt":    true,
		".config/containers/certs.d/quay.io/ca.crt":        false,
	} {
		home := t.TempDir()
		writeFile(t, filepath.Join(home, path), ca)
		env := []string{"HOME=" + home, "XDG_CONFIG_HOME="}
		if strings.HasPrefix(path, "conf/") {
			env[1] += filepath.Join(home, "conf")
		}
		cmd, out := child(t, openStore(t, Config{}), r.host+"/test/image:v1", env...)
		err := cmd.Wait()
		if works && (err != nil || out.String() != "content") {
			t.Errorf("%s: %v, %s", path, err, out)
		}
		if !works && !strings.Contains(out.String(), string(Untrusted)) {
			t.Errorf("%s: %v, %s, want %s", path, err, out, Untrusted)
		}
	}
	// The pool of the process itself holds as well.
	file := filepath.Join(t.TempDir(), "ca.pem")
	writeFile(t, file, ca)
	cmd, out := child(t, openStore(t, Config{}), r.host+"/test/image:v1", "SSL_CERT_FILE="+file)
	if err := cmd.Wait(); err != nil || out.String() != "content" {
		t.Errorf("$SSL_CERT_FILE: %v, %s", err, out)
	}
}

// TestProxies pulls in processes whose environment names a proxy.
func TestProxies(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	r.fill(t, Config{}, "test/image:v1", "content")
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Host != "registry.test" && req.URL.Host != "registry.test:5000" {
			http.Error(w, "not for me", http.StatusBadGateway)
			return
		}
		asked.Add(1)
		answer := httptest.NewRecorder()
		r.Config.Handler.ServeHTTP(answer, req)
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}))
	defer proxy.Close()
	tests := map[string]struct {
		env   []string
		works bool
	}{
		"HTTP_PROXY":                  {[]string{"HTTP_PROXY=" + proxy.URL}, true},
		"http_proxy":                  {[]string{"http_proxy=" + proxy.URL}, true},
		"NO_PROXY names the host":     {[]string{"HTTP_PROXY=" + proxy.URL, "NO_PROXY=quay.io,registry.test"}, false},
		"NO_PROXY names the domain":   {[]string{"HTTP_PROXY=" + proxy.URL, "NO_PROXY=.test"}, false},
		"NO_PROXY names another host": {[]string{"HTTP_PROXY=" + proxy.URL, "NO_PROXY=quay.io"}, true},
		"NO_PROXY names everything":   {[]string{"HTTP_PROXY=" + proxy.URL, "NO_PROXY=*"}, false},
		"none":                        {nil, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			asked.Store(0)
			env := append([]string{childInsecure + "=registry.test:5000", "HTTPS_PROXY="}, tt.env...)
			cmd, out := child(t, openStore(t, Config{}), "registry.test:5000/test/image:v1", env...)
			err := cmd.Wait()
			if tt.works && (err != nil || out.String() != "content" || asked.Load() == 0) {
				t.Errorf("pull: %v, %s, the proxy was asked %d times", err, out, asked.Load())
			}
			if !tt.works && (err == nil || asked.Load() != 0) {
				t.Errorf("pull: %v, %s, the proxy was asked %d times", err, out, asked.Load())
			}
		})
	}
}
