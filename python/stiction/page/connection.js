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

// viser's client prevents the default action of a press that starts a drag, in a listener that it lets be passive: browsers refuse that, and
// complain on the console.
const addListener = EventTarget.prototype.addEventListener;
EventTarget.prototype.addEventListener = function (type, listener, options) {
  const active = type === "pointerdown" && options?.passive ? { ...options, passive: false } : options;
  return addListener.call(this, type, listener, active);
};
