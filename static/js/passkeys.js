// Joins the forms that take a passkey with allauth's functions: these wait for inline data, which
// no page of this site carries.
(() => {
  const failed = document.querySelector("[data-passkey-failed]");
  document.addEventListener("allauth.error", (event) => {
    event.preventDefault();
    if (failed) failed.hidden = false;
  });
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    const { passkey, options } = form.dataset;
    const button = form.querySelector("button");
    const passwordless = form.querySelector("[name=passwordless]");
    const ids = {
      credential: form.querySelector("[name=credential]").id,
      passwordless: passwordless ? passwordless.id : undefined,
      [passkey]: button.id,
    };
    button.addEventListener("click", (event) => {
      event.preventDefault();
      if (failed) failed.hidden = true;
    });
    window.allauth.webauthn.forms[`${passkey}Form`]({
      ids,
      data: options ? JSON.parse(options) : undefined,
    });
  }
})();
