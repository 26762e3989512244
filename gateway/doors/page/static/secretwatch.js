// Follows programs' questions for secrets, for an owner's page. Few pages ever have one, so the
// script that shows them is loaded with the first.

export class SecretWatch {
  /** @type {Secrets | null} */
  secrets = null;
  /** @type {Promise<Secrets> | null} */
  loading = null;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
  }

  /** Asks for open and future questions. Each connection must ask again. */
  async start() {
    if (!this.app.owner) return;
    this.secrets?.noteReconnect();
    try {
      await this.app.connection.ask({type: 'secret.watch'});
      this.secrets?.removeStale();
    } catch {
      /* lost, or an older gateway */
    }
  }

  /** @param {SecretAsk|SecretEnded} m */
  async receive(m) {
    this.loading ||= import('./secret.js').then(
      ({Secrets}) => (this.secrets = new Secrets(this.app)),
    );
    try {
      (await this.loading).receive(m);
    } catch {
      this.loading = null;
      this.app.connection.reconnect('a part of the page did not load'); // and asks for them again
    }
  }
}
