// Browsers start no workers for pages that are read from the disk. There the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      document.body.appendChild(this.frame);
      this.inside = this.frame.contentWindow;
      this.inside.postMessage = (data) => this.receive(data);
      this.inside.importScripts = () => Promise.resolve(); // only for languages other than English
      this.ready = new Promise((done) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = address;
        script.onload = done;
        this.frame.contentDocument.body.appendChild(script);
      });
    }

    receive(data) {
      const message = new MessageEvent("message", { data });
      if (this.onmessage) this.onmessage(message);
      this.dispatchEvent(message);
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
