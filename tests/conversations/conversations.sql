-- What the conversation scripts speak of. 999 is an amount that a deferred constraint refuses at the end of the
-- transaction.
CREATE TABLE led (a int);
CREATE TABLE other (a int);
CREATE TABLE ledger_control (id int PRIMARY KEY, mode text);
CREATE FUNCTION refuse_999() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.a = 999 THEN
    RAISE EXCEPTION 'refused' USING ERRCODE = '23503';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER led_is_checked_late AFTER INSERT ON led
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_999();
CREATE PROCEDURE touch_led() LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO led VALUES (1);
  COMMIT;
  INSERT INTO led VALUES (2);
END $$;
