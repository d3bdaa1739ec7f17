// Package scaffold makes the files that a directory of manifests lacks to be a bundle: metadata/annotations.yaml, and the Dockerfile
// with which other tools build its image.
//
// It decides what the files hold and writes nothing but them, and nothing that is there already unless it is told to. It builds no
// image. Start reading at Plan, whose result is shown or written with Write.
package scaffold
