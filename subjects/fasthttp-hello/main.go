// Every request is answered "Hello, world!" by fasthttp.
//
//	fasthttp-hello [--listen] ADDRESS:PORT
package main

import (
	"flag"
	"fmt"
	"net"
	"os"

	"github.com/valyala/fasthttp"
)

const exitUsage = 2

var answer = []byte("Hello, world!\n")

func main() {
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: fasthttp-hello [--listen] ADDRESS:PORT")
	}
	address := flag.String("listen", "", "address to listen on; port 0 takes a free one")
	flag.Parse()
	if *address == "" && flag.NArg() == 1 {
		*address = flag.Arg(0)
	} else if *address == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(exitUsage)
	}
	if err := serve(*address); err != nil {
		fmt.Fprintf(os.Stderr, "fasthttp-hello: %s: %v\n", *address, err)
		os.Exit(1)
	}
}

func serve(address string) error {
	// Go sets TCP_NODELAY itself, and takes the longest backlog that the kernel allows.
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("listening on http://%s/\n", listener.Addr())
	server := &fasthttp.Server{Handler: hello, NoDefaultServerHeader: true}
	return server.Serve(listener)
}

func hello(ctx *fasthttp.RequestCtx) {
	ctx.SetContentType("text/plain")
	ctx.SetBody(answer)
}
