// viser's client draws what a server tells it, over a connection that runs in a worker. Here the page itself is that server: this stands
// in the worker's place and hands messages both ways, so that nothing leaves the page.
window.stiction = { connection: null, ready: null, received: () => {} };
stiction.ready = new Promise(resolve => {
  window.Worker = class {
    postMessage(data) {
      if (data.type === "send") stiction.received(data.message);
      if (data.type !== "set_server") return;
      stiction.connection = this;
      setTimeout(() => {
        this.onmessage({ data: { type: "connected" } });
        resolve();
      });
    }
    terminate() {}
  };
});

// Messages as viser's server would send them.
stiction.send = messages => {
  if (messages.length > 0) stiction.connection.onmessage({ data: { type: "message_batch", messages } });
};
