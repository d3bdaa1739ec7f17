// Command program is what the pods of the real node's tests run.
//
//	program serve             answers HTTP on port 8080, and with a certificate in CERT and KEY an admission review on port 8443
//	program fetch URL...      prints what each answers, asking again for up to 20 s
//	program say WORD          prints it
//	manager                   under this name, is the same in the place of an operator that was made with the usual tools, with their port for probes
//	program operate VERSION   is an operator with webhooks of every kind and an aggregated API
//	program exit CODE AFTER   says that its configuration is missing, and ends with an exit code after a time, such as 2s
//	program panic             panics
//	program hog               takes memory until it is ended
//	program busy              serves on port 8080 and answers 503, as one whose database is away; ends in order when it is asked to
//	program deaf              the same, and does not end when it is asked to
package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	args := os.Args[1:]
	if os.Args[0] == "/manager" {
		args = []string{"manager"}
	}
	if err := run(args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: program serve|fetch URL...|say WORD")
	}
	switch args[0] {
	case "serve":
		return serve()
	case "exit":
		return exit(args[1], args[2])
	case "panic":
		var settings map[string]string
		settings["mode"] = "fast" //nolint:staticcheck // it has to panic, as programs do that were not made to
	case "hog":
		for all := [][]byte{}; ; {
			all = append(all, bytes.Repeat([]byte{1}, 1<<20))
		}
	case "busy", "deaf":
		return busy(args[0] == "deaf")
	case "manager":
		return operate("manager", ":8081")
	case "operate":
		return operate(args[1], ":8080")
	case "say":
		fmt.Println(strings.Join(args[1:], " "))
		return nil
	case "fetch":
		for _, url := range args[1:] {
			if err := fetch(url); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("unknown command %s", args[0])
}

func exit(code, after string) error {
	number, err := strconv.Atoi(code)
	if err != nil {
		return err
	}
	wait, err := time.ParseDuration(after)
	if err != nil {
		return err
	}
	fmt.Println("starting")
	time.Sleep(wait)
	fmt.Println("cannot read the configuration: /etc/config: no such file")
	os.Exit(number)
	return nil
}

// busy answers probes with a failure.
func busy(deaf bool) error {
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM)
	go func() {
		for range ends {
			if !deaf {
				os.Exit(0)
			}
		}
	}()
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the database is away", http.StatusServiceUnavailable)
	})
	return (&http.Server{Addr: ":8080", ReadHeaderTimeout: time.Minute}).ListenAndServe()
}

func serve() error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	if os.Getenv("CERT") != "" {
		pair, err := tls.X509KeyPair([]byte(os.Getenv("CERT")), []byte(os.Getenv("KEY")))
		if err != nil {
			return err
		}
		server := &http.Server{Addr: ":8443", Handler: http.HandlerFunc(review), TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}}, ReadHeaderTimeout: time.Minute}
		go func() {
			fmt.Fprintln(os.Stderr, server.ListenAndServeTLS("", ""))
			os.Exit(1)
		}()
	}
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, "served by %s\n", host) })
	fmt.Println("serving")
	return (&http.Server{Addr: ":8080", ReadHeaderTimeout: time.Minute}).ListenAndServe()
}

// review refuses every object whose name is bad.
func review(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Request struct {
			UID  string `json:"uid"`
			Name string `json:"name"`
		} `json:"request"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := map[string]any{"uid": asked.Request.UID, "allowed": asked.Request.Name != "bad", "status": map[string]any{"message": "refused by a pod"}}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer})
}

func fetch(url string) error {
	client := &http.Client{Timeout: 2 * time.Second}
	deadline := time.Now().Add(20 * time.Second)
	for {
		response, err := client.Get(url)
		if err == nil {
			defer response.Body.Close()
			fmt.Printf("%s: ", url)
			_, err := io.Copy(os.Stdout, response.Body)
			return err
		}
		if time.Now().After(deadline) {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
}
