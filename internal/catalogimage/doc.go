// Package catalogimage reads catalogs that are in images: a reference to the index of its content, which is made once for each digest
// and kept. It is what controllers and commands share, so that the same image means the same to all of them.
//
// It never decides what is served, keeps no index open and knows no Kubernetes. Start reading at Reader.Read.
package catalogimage
